// What a mesh has of the links that it had when a program first trained on it. Pure.
#pragma once

#include <string>
#include <vector>

#include "supervisor/decide/core/boards.hpp"

namespace trainward::daemon {

// Words for links that are gone, by their names with boards and connectors.
struct LostLinks {
  std::string words;      // "2 of the 20 links that …: a/L:6 (QSFP 1) to …"; empty: none is
  bool too_many = false;  // more than a tenth: the mesh counts as one that does not fit
};

// A mesh with as many links as then has lost none, whichever boards they are on now.
LostLinks lost_links(const core::KnownMesh& then, const core::KnownMesh& now);

// Boards of that mesh which a look did not find at all, as words: "board a, which it had, is not
// found"; empty: all are there.
std::string lost_boards(const core::KnownMesh& then, const std::vector<std::string>& found);

}  // namespace trainward::daemon

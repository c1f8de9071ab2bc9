// Why a mesh cannot be placed, in words: the links and chips that would have to be repaired for it,
// as few and as cheap to repair as a bounded search finds. Pure.
#pragma once

#include <set>
#include <string>

#include "common/base/error.hpp"
#include "hwprobe/topology/mesh_search.hpp"
#include "hwprobe/topology/place.hpp"

namespace trainward::hwprobe {

struct Refused {
  MeshShape shape;
  std::set<std::size_t> held;  // boards of other programs and earlier requests
  bool complete = true;        // false: the search for a place gave up
};

Error refusal(const Graph& graph, const Refused& refused, const Usable& usable,
              const Preferences& preferences);

}  // namespace trainward::hwprobe

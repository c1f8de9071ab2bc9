// A report as the core wants it: what each board is good for, what it has done before, and which
// boards a program that needs a mesh is to have. A mesh that is whole, but has lost more than a
// tenth of the links it once had, is refused as one that does not fit.
//
// The boards of such a set are leased at once and stay leased in the answer: between the choice and
// the launch no other program can take one of them. For a program on one board the core chooses,
// and the launcher takes the lease, as only the core knows which.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/boards/placement.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

using Leases = std::map<std::string, Fd>;  // by serial number

struct BoardsWish {
  MeshWish mesh;
  std::vector<config::Mesh> smaller;  // what else could do its steps, the best first
  std::int64_t min_chips = 1;         // what has fewer will not do
  std::int64_t has_chips = 0;         // on less than the whole: only more than these are offered
  core::KnownMesh known;              // what the mesh once had
  // Boards that the program works on: it is asked what it could have, and nothing is leased.
  std::set<std::string> ours;
};

struct BoardsFound {
  core::ProbeFinished event;
  std::optional<MeshPlace> place;  // of the set, or of the smaller one that is offered instead
  Leases leases;                   // of the boards in `place`
};

BoardsFound boards_found(const Result<hwprobe::Report>& report,
                         const std::optional<BoardsWish>& wish, store::Store& store,
                         const Paths& paths, WallTime now);

}  // namespace trainward::daemon

// Where programs run: meshes of chips that are linked, healthy and free.
//
// In: the graph of a host, what shape each program asks for, which chips may be used, and what is
// known about the boards' past. Out: for each request the chips of its mesh, row by row, or an
// error that names what is missing. In a mesh of R rows and C columns every two neighbours are
// linked. A board belongs to one program at a time, as resets and leases concern whole boards: no
// two placements touch the same board.
//
// Preferred, in this order: fewer boards; boards with fewer faults; boards that are not degraded.
// Earlier requests come first: a later one is refused rather than an earlier one, but earlier ones
// are laid out so that later ones fit. The same input gives the same answer, whatever order the
// report had. The search is bounded in steps: where it ends early (32 chips that are all linked to
// each other, say) the best layout so far is taken. Pure.
//
// Errors: kind permanent (the host has no such mesh), transient (boards that earlier requests or
// other programs hold would make one), usage (an impossible shape).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/topology/topology_graph.hpp"

namespace trainward::hwprobe {

struct MeshShape {
  std::size_t rows = 1;
  std::size_t columns = 1;

  [[nodiscard]] std::size_t chips() const { return rows * columns; }
  friend bool operator==(const MeshShape&, const MeshShape&) = default;
};

// "2x4"
std::string to_string(MeshShape shape);

struct Placement {
  MeshShape shape;
  std::vector<std::size_t> chips;   // row by row; indexes into Graph::chips
  std::vector<std::size_t> boards;  // those it touches, in order; indexes into Graph::boards
};

struct Preferences {
  std::map<std::string, std::int64_t, std::less<>> faults;  // by serial number
  std::set<std::string, std::less<>> taken;                 // boards that other programs hold
  // Boards that are not `usable` whatever was found, and why: "in quarantine until …".
  std::map<std::string, std::string, std::less<>> barred;
  std::size_t max_steps = 100'000;  // of one search
};

using Usable = std::function<bool(const Graph&, std::size_t chip)>;

inline constexpr std::size_t max_chips = 32;
inline constexpr std::size_t max_requests = 16;

Result<Placement> place(const Graph& graph, MeshShape shape, const Usable& usable = healthy,
                        const Preferences& preferences = {});

// One answer for each request.
std::vector<Result<Placement>> place_all(const Graph& graph, std::span<const MeshShape> requests,
                                         const Usable& usable = healthy,
                                         const Preferences& preferences = {});

}  // namespace trainward::hwprobe

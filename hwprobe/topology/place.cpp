#include "hwprobe/topology/place.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwprobe/topology/refusal.hpp"
#include "hwprobe/topology/terrain.hpp"

namespace trainward::hwprobe {
namespace {

// What no host of at most max_chips chips can ever be asked for.
Status possible(const Graph& graph, MeshShape shape) {
  if (graph.chips.size() > max_chips) {
    return fail(ErrorKind::usage,
                fmt::format("the host has {} chips, programs are placed on at most {}",
                            graph.chips.size(), max_chips));
  }
  // Each side by itself first: their product may overflow.
  if (shape.rows == 0 || shape.columns == 0 || shape.rows > max_chips ||
      shape.columns > max_chips || shape.chips() > max_chips) {
    return fail(
        ErrorKind::usage, fmt::format("no mesh is {}", to_string(shape)), "mesh_shape",
        fmt::format("rows and columns are at least 1, and at most {} chips together", max_chips));
  }
  return {};
}

Placement to_placement(const Terrain& terrain, MeshShape shape, std::vector<std::size_t> chips) {
  Placement placement{shape, std::move(chips), {}};
  std::set<std::size_t> boards;
  for (const std::size_t chip : placement.chips) boards.insert(terrain.board[chip]);
  placement.boards.assign(boards.begin(), boards.end());
  return placement;
}

std::set<std::size_t> held_boards(const Graph& graph, const Preferences& preferences) {
  std::set<std::size_t> held;
  for (std::size_t board = 0; board < graph.boards.size(); ++board) {
    if (preferences.taken.contains(graph.boards[board].serial)) held.insert(board);
  }
  return held;
}

// Too few chips need no search to know: the counts of free chips are enough.
bool enough_chips(const Terrain& terrain, const std::vector<MeshShape>& shapes) {
  std::size_t needed = 0;
  for (const MeshShape& shape : shapes) needed += shape.chips();
  const auto free =
      std::ranges::count_if(terrain.chip, [](auto weight) { return weight != forbidden; });
  return needed <= static_cast<std::size_t>(free);
}

}  // namespace

std::string to_string(MeshShape shape) { return fmt::format("{}x{}", shape.rows, shape.columns); }

std::vector<Result<Placement>> place_all(const Graph& graph, std::span<const MeshShape> requests,
                                         const Usable& usable, const Preferences& preferences) {
  std::vector<Result<Placement>> answers;
  std::vector<MeshShape> accepted;
  std::vector<std::size_t> accepted_at;  // their places among the requests
  Layout layout;
  Terrain terrain;
  if (graph.chips.size() <= max_chips) terrain = terrain_for(graph, usable, preferences);
  std::set<std::size_t> held = held_boards(graph, preferences);

  for (std::size_t i = 0; i < requests.size(); ++i) {
    answers.emplace_back(
        fail(ErrorKind::usage, fmt::format("at most {} requests at a time", max_requests)));
    if (i >= max_requests) continue;
    if (auto ok = possible(graph, requests[i]); !ok) {
      answers[i] = propagate(ok);
      continue;
    }
    // With this request, all earlier ones are laid out again to make room.
    accepted.push_back(requests[i]);
    SearchResult found;
    if (enough_chips(terrain, accepted)) {
      found = search_meshes(terrain, accepted, preferences.max_steps);
    }
    if (found.best) {
      layout = std::move(*found.best);
      accepted_at.push_back(i);
      continue;
    }
    accepted.pop_back();
    Refused refused{requests[i], held, found.complete};
    for (const auto& chips : layout.chips) {
      for (const std::size_t chip : chips) refused.held.insert(terrain.board[chip]);
    }
    answers[i] = tl::unexpected(refusal(graph, refused, usable, preferences));
  }
  for (std::size_t k = 0; k < accepted.size(); ++k) {
    answers[accepted_at[k]] = to_placement(terrain, accepted[k], std::move(layout.chips[k]));
  }
  return answers;
}

Result<Placement> place(const Graph& graph, MeshShape shape, const Usable& usable,
                        const Preferences& preferences) {
  return std::move(place_all(graph, std::span(&shape, 1), usable, preferences).front());
}

}  // namespace trainward::hwprobe

#include "hwprobe/topology/terrain.hpp"

#include <algorithm>

namespace trainward::hwprobe {
namespace {

// So that no sum of them overflows.
constexpr std::int64_t most_faults = 1'000'000'000;

}  // namespace

std::vector<std::vector<Between>> links_between(const Graph& graph) {
  std::vector between(graph.chips.size(), std::vector(graph.chips.size(), Between::nothing));
  for (const GraphLink& link : graph.links) {
    const Between state = link.state == LinkState::down ? Between::broken : Between::linked;
    for (Between* of : {&between[link.from][link.to], &between[link.to][link.from]}) {
      *of = std::max(*of, state);
    }
  }
  return between;
}

Terrain empty_terrain(const Graph& graph, const Preferences& preferences) {
  Terrain terrain;
  for (const GraphBoard& board : graph.boards) {
    const auto faults = preferences.faults.find(board.serial);
    terrain.faults.push_back(faults == preferences.faults.end()
                                 ? 0
                                 : std::clamp<std::int64_t>(faults->second, 0, most_faults));
    terrain.degraded.push_back(board.verdict != Verdict::ok);
  }
  for (const GraphChip& chip : graph.chips) terrain.board.push_back(chip.board);
  terrain.chip.assign(graph.chips.size(), 0);
  terrain.pair.assign(graph.chips.size(), std::vector(graph.chips.size(), forbidden));
  return terrain;
}

Terrain terrain_for(const Graph& graph, const Usable& usable, const Preferences& preferences) {
  Terrain terrain = empty_terrain(graph, preferences);
  const auto between = links_between(graph);
  for (std::size_t chip = 0; chip < graph.chips.size(); ++chip) {
    const std::string& board = graph.boards[terrain.board[chip]].serial;
    if (preferences.taken.contains(board) || !usable(graph, chip)) terrain.chip[chip] = forbidden;
    for (std::size_t other = 0; other < graph.chips.size(); ++other) {
      if (between[chip][other] == Between::linked) terrain.pair[chip][other] = 0;
    }
  }
  return terrain;
}

}  // namespace trainward::hwprobe

#include "supervisor/daemon/boards/placement.hpp"

#include <algorithm>
#include <span>

#include "hwprobe/topology/connectors.hpp"
#include "hwprobe/topology/place.hpp"

namespace trainward::daemon {
namespace {

using hwprobe::Graph;
using hwprobe::Verdict;

hwprobe::MeshShape shape_of(const config::Mesh& mesh) {
  return {static_cast<std::size_t>(mesh.rows), static_cast<std::size_t>(mesh.columns)};
}

hwprobe::Expected links_nobody_lists(const hwprobe::Report& report) {
  hwprobe::Expected expected;
  if (report.source != "nvidia-smi") return expected;
  std::vector<std::string> gpus;
  for (const hwprobe::Board& board : report.boards) {
    for (const hwprobe::Chip& chip : board.chips) gpus.push_back(board.serial + "/" + chip.id);
  }
  if (gpus.size() > hwprobe::max_chips) return expected;
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.size(); ++b) {
      expected.links.push_back({gpus[a], gpus[b], true, 0});
    }
  }
  return expected;
}

// What is only held may be waited for; it counts as taken, not as broken.
bool could_run(const Graph& graph, std::size_t chip) {
  const Verdict own = graph.chips[chip].verdict;
  const Verdict board = graph.boards[graph.chips[chip].board].verdict;
  return (hwprobe::usable(board) || board == Verdict::busy) &&
         (hwprobe::usable(own) || own == Verdict::busy || own == Verdict::unknown);
}

bool are_neighbours(const hwprobe::Placement& placement, std::size_t a, std::size_t b) {
  const auto place_of = [&](std::size_t chip) {
    return static_cast<std::size_t>(std::ranges::find(placement.chips, chip) -
                                    placement.chips.begin());
  };
  const std::size_t first = std::min(place_of(a), place_of(b));
  const std::size_t second = std::max(place_of(a), place_of(b));
  if (second >= placement.chips.size()) return false;
  const std::size_t columns = placement.shape.columns;
  return second == first + columns || (second == first + 1 && second % columns != 0);
}

// Links between the same two chips share a name: "a/L:6,7 (QSFP 1) to b/L:6,7 (QSFP 1)".
void add_links(const Graph& graph, const hwprobe::Placement& placement, MeshPlace& place) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<hwprobe::GraphLink>> pairs;
  for (const hwprobe::GraphLink& link : graph.links) {
    if (link.state == hwprobe::LinkState::down) continue;
    if (!are_neighbours(placement, link.from, link.to)) continue;
    pairs[{link.from, link.to}].push_back(link);
    ++place.links;
  }
  for (const auto& [chips, links] : pairs) {
    place.pairs.push_back(hwprobe::name_with_connectors(graph, links));
  }
}

MeshPlace to_place(const Graph& graph, const config::Mesh& mesh,
                   const hwprobe::Placement& placement) {
  MeshPlace place{mesh, {}, {}, {}};
  add_links(graph, placement, place);
  for (const std::size_t chip : placement.chips) {
    place.chips.push_back(graph.name(chip));
    const std::string& serial = graph.boards[graph.chips[chip].board].serial;
    if (std::find(place.boards.begin(), place.boards.end(), serial) == place.boards.end()) {
      place.boards.push_back(serial);
    }
  }
  return place;
}

}  // namespace

std::vector<std::string> boards_without_links(const hwprobe::Report& report,
                                              const BoardPasts& boards) {
  const Graph graph = hwprobe::make_graph(report);
  const auto free = [&](const hwprobe::GraphBoard& board) {
    const auto past = boards.find(board.serial);
    return hwprobe::usable(board.verdict) &&
           (past == boards.end() || (past->second.barred.empty() && !past->second.taken));
  };
  std::set<std::string> unlinked;
  for (const hwprobe::GraphLink& link : graph.links) {
    const hwprobe::GraphBoard& from = graph.boards[graph.chips[link.from].board];
    const hwprobe::GraphBoard& to = graph.boards[graph.chips[link.to].board];
    if (link.state != hwprobe::LinkState::down || from.serial == to.serial) continue;
    if (free(from) && free(to)) unlinked.insert({from.serial, to.serial});
  }
  return {unlinked.begin(), unlinked.end()};
}

Result<MeshPlace> place_mesh(const hwprobe::Report& report, const MeshWish& wish,
                             const BoardPasts& boards) {
  const Graph graph = hwprobe::make_graph(report, links_nobody_lists(report));
  hwprobe::Preferences preferences;
  for (const auto& [serial, past] : boards) {
    preferences.faults[serial] = past.stains;
    if (!past.barred.empty()) preferences.barred[serial] = past.barred;
    if (past.taken && !past.ours) preferences.taken.insert(serial);
  }
  for (const hwprobe::GraphBoard& board : graph.boards) {
    const auto past = boards.find(board.serial);
    const bool ours = past != boards.end() && past->second.ours;
    if (board.verdict == Verdict::busy && !ours) preferences.taken.insert(board.serial);
  }
  const hwprobe::Usable usable = [&](const Graph& of, std::size_t chip) {
    const auto past = boards.find(of.boards[of.chips[chip].board].serial);
    return could_run(of, chip) && (past == boards.end() || past->second.barred.empty());
  };
  std::vector<hwprobe::MeshShape> requests{shape_of(wish.mesh)};
  for (const config::Mesh& other : wish.others) {
    if (requests.size() < hwprobe::max_requests) requests.push_back(shape_of(other));
  }
  auto answers = hwprobe::place_all(graph, requests, usable, preferences);
  if (!answers.front()) return propagate(answers.front());
  return to_place(graph, wish.mesh, *answers.front());
}

}  // namespace trainward::daemon

#include "hwprobe/topology/refusal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hwprobe/topology/connectors.hpp"
#include "hwprobe/topology/terrain.hpp"

namespace trainward::hwprobe {
namespace {

// How far from working: a plug or a reset, a board that is held or bad, a cable that was never
// laid.
constexpr std::int64_t broken_link_weight = 1;
constexpr std::int64_t chip_weight = 2;
constexpr std::int64_t no_link_weight = 4;

// Broken things may be used here; they only cost. So do links that were never there, unless
// `no_link` is forbidden.
Terrain terrain_of_wishes(const Graph& graph, const Refused& refused, const Usable& usable,
                          std::int64_t no_link) {
  Terrain terrain = empty_terrain(graph, {});
  const auto between = links_between(graph);
  for (std::size_t chip = 0; chip < graph.chips.size(); ++chip) {
    if (refused.held.contains(terrain.board[chip]) || !usable(graph, chip)) {
      terrain.chip[chip] = chip_weight;
    }
    for (std::size_t other = 0; other < graph.chips.size(); ++other) {
      const Between state = between[chip][other];
      terrain.pair[chip][other] = state == Between::linked   ? 0
                                  : state == Between::broken ? broken_link_weight
                                                             : no_link;
    }
  }
  return terrain;
}

// The layout that is the nearest to working. Repairs are looked for first: where they are enough,
// the much larger search over cables that could be laid as well has nothing to add.
SearchResult nearest(const Graph& graph, const Refused& refused, const Usable& usable,
                     std::size_t max_steps) {
  const auto search = [&](std::int64_t no_link) {
    return search_meshes(terrain_of_wishes(graph, refused, usable, no_link),
                         std::span(&refused.shape, 1), max_steps);
  };
  SearchResult repaired = search(forbidden);
  if (repaired.best && repaired.best->cost.missing <= no_link_weight) return repaired;
  SearchResult laid = search(no_link_weight);
  laid.complete = laid.complete && repaired.complete;
  if (repaired.best && (!laid.best || repaired.best->cost < laid.best->cost)) {
    laid.best = std::move(repaired.best);
  }
  return laid;
}

class Missing {
 public:
  Missing(const Graph& graph, const Refused& refused, const Usable& usable,
          const Preferences& preferences)
      : graph_(graph),
        refused_(refused),
        usable_(usable),
        barred_(preferences.barred),
        between_(links_between(graph)) {}

  std::vector<std::string> in(const std::vector<std::size_t>& chips) {
    for (const std::size_t chip : chips) look_at(chip);
    const std::size_t columns = refused_.shape.columns;
    for (std::size_t i = 0; i < chips.size(); ++i) {
      if ((i + 1) % columns != 0) look_between(chips[i], chips[i + 1]);
      if (i + columns < chips.size()) look_between(chips[i], chips[i + columns]);
    }
    return std::move(words_);
  }

  // Everything that is in the way will be free one day.
  [[nodiscard]] bool only_held() const { return only_held_; }

 private:
  void look_at(std::size_t chip) {
    if (!usable_(graph_, chip)) {
      // What is wrong with the whole board is said of the board, once.
      const GraphChip& node = graph_.chips[chip];
      const GraphBoard& board = graph_.boards[node.board];
      const auto barred = barred_.find(board.serial);
      say(!usable(board.verdict) ? name_bad(node.board)
          : barred != barred_.end()
              ? fmt::format("board {} is {}", board.serial, barred->second)
              : fmt::format("chip {} is {}", graph_.name(chip),
                            healthy(graph_, chip) ? "not to be used" : to_string(node.verdict)));
      only_held_ = false;
    } else if (refused_.held.contains(graph_.chips[chip].board)) {
      say(fmt::format("board {} is in use", graph_.boards[graph_.chips[chip].board].serial));
    }
  }

  void look_between(std::size_t a, std::size_t b) {
    if (between_[a][b] == Between::linked) return;
    only_held_ = false;
    if (between_[a][b] == Between::nothing) {
      say(fmt::format("no link from {} to {}", graph_.name(std::min(a, b)),
                      graph_.name(std::max(a, b))));
      return;
    }
    // None of them is up.
    std::vector<GraphLink> down;
    for (const GraphLink& link : graph_.links) {
      if (link.from == std::min(a, b) && link.to == std::max(a, b)) down.push_back(link);
    }
    say(fmt::format("the link{} from {} {} down", down.size() == 1 ? "" : "s",
                    name_with_connectors(graph_, down), down.size() == 1 ? "is" : "are"));
  }

  // "board a is ARC_DEAD", and which of its chips it is where not all are.
  [[nodiscard]] std::string name_bad(std::size_t index) const {
    const GraphBoard& board = graph_.boards[index];
    std::vector<std::string_view> chips;
    std::size_t all = 0;
    for (const GraphChip& chip : graph_.chips) {
      if (chip.board != index) continue;
      ++all;
      if (chip.verdict == board.verdict) chips.push_back(chip.id);
    }
    std::string words = fmt::format("board {} is {}", board.serial, to_string(board.verdict));
    if (chips.empty() || chips.size() == all) return words;
    return fmt::format("{} (chip {})", words, fmt::join(chips, ", "));
  }

  void say(std::string words) {
    if (std::ranges::find(words_, words) == words_.end()) words_.push_back(std::move(words));
  }

  const Graph& graph_;
  const Refused& refused_;
  const Usable& usable_;
  const std::map<std::string, std::string, std::less<>>& barred_;
  std::vector<std::vector<Between>> between_;
  std::vector<std::string> words_;
  bool only_held_ = true;
};

}  // namespace

Error refusal(const Graph& graph, const Refused& refused, const Usable& usable,
              const Preferences& preferences) {
  const std::string mesh = fmt::format("a mesh of {}", to_string(refused.shape));
  if (graph.chips.size() < refused.shape.chips()) {
    return {ErrorKind::permanent,
            fmt::format("{} needs {} chips, the host has {}", mesh, refused.shape.chips(),
                        graph.chips.size()),
            "mesh_shape", "ask for a smaller mesh"};
  }
  const SearchResult wish = nearest(graph, refused, usable, preferences.max_steps);
  if (!wish.best) {
    return {ErrorKind::permanent, fmt::format("the search for {} gave up", mesh), "mesh_shape",
            "ask for a smaller mesh"};
  }
  Missing missing(graph, refused, usable, preferences);
  const std::vector<std::string> words = missing.in(wish.best->chips.front());
  if (words.empty()) {
    // The first search ended early, or the requests before this one could not be moved for it.
    return {ErrorKind::transient,
            fmt::format("no place for {} was found beside the other programs{}", mesh,
                        refused.complete ? "" : " in the steps allowed"),
            "mesh_shape", "try again when one of them has ended"};
  }
  return {missing.only_held() ? ErrorKind::transient : ErrorKind::permanent,
          fmt::format("{} cannot be placed: {}", mesh, fmt::join(words, "; ")), "mesh_shape",
          missing.only_held() ? "it can be when they are free"
                              : fmt::format("this is the nearest to such a mesh{}; repair it or "
                                            "ask for less",
                                            wish.complete ? "" : " that was found")};
}

}  // namespace trainward::hwprobe

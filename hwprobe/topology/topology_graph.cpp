#include "hwprobe/topology/topology_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

#include "common/base/text.hpp"
#include "hwprobe/topology/ends.hpp"

namespace trainward::hwprobe {
namespace {

// The two traces between the chips of an N300, which no reader of kernel attributes can see.
struct Trace {
  std::string_view from_port;
  std::string_view to_port;
};
constexpr Trace traces[] = {{"8", "0"}, {"9", "1"}};

class Builder {
 public:
  Graph build(const Report& report, const Expected& expected) {
    add_boards(report);
    for (const Board& board : report.boards) {
      for (const Link& link : board.links) {
        add_link(link, board.serial, link.up ? LinkState::up : LinkState::down);
      }
    }
    for (const Link& link : expected.links) add_link(link, "", LinkState::assumed);
    for (std::size_t board = 0; board < graph_.boards.size(); ++board) add_traces(board);
    // Channel 8 comes before 10.
    const auto key = [](const GraphLink& link) {
      return std::tuple(link.from, link.to, link.from_port.size(), std::string_view(link.from_port),
                        link.to_port.size(), std::string_view(link.to_port));
    };
    std::ranges::sort(graph_.links, {}, key);
    return std::move(graph_);
  }

 private:
  void add_boards(const Report& report) {
    std::vector<const Board*> boards;
    for (const Board& board : report.boards) boards.push_back(&board);
    std::stable_sort(boards.begin(), boards.end(), [](const Board* a, const Board* b) {
      return lower_case(a->serial) < lower_case(b->serial);
    });
    for (const Board* board : boards) {
      const std::size_t index = graph_.boards.size();
      graph_.boards.push_back({board->serial, board->type, board->bus_id, board->verdict});
      std::vector<GraphChip> chips;
      for (const Chip& chip : board->chips) {
        chips.push_back({index, chip.id, chip.verdict, chip.temperature_c});
      }
      std::stable_sort(chips.begin(), chips.end(),
                       [](const GraphChip& a, const GraphChip& b) { return a.id < b.id; });
      graph_.chips.insert(graph_.chips.end(), chips.begin(), chips.end());
    }
  }

  // The same link may be listed by both boards, and be expected as well: what was seen counts, and
  // of two that saw it the one that saw it down.
  void add_link(const Link& link, std::string_view board, LinkState state) {
    const auto first = parse_end(link.from, board);
    const auto second = parse_end(link.to, board);
    if (!first || !second) return;
    auto a = graph_.find(first->board, first->chip);
    auto b = graph_.find(second->board, second->chip);
    if (!a || !b || a == b) return;
    const bool turned = *a > *b;
    if (turned) std::swap(a, b);
    const std::string& from_port = (turned ? second : first)->port;
    const std::string& to_port = (turned ? first : second)->port;
    for (GraphLink& known : graph_.links) {
      if (known.from != *a || known.to != *b || known.from_port != from_port ||
          known.to_port != to_port) {
        continue;
      }
      if (state == LinkState::down) known.state = state;
      known.retrains = std::max(known.retrains, link.retrains);
      return;
    }
    graph_.links.push_back({*a, *b, from_port, to_port, state, link.retrains});
  }

  void add_traces(std::size_t board) {
    const GraphBoard& of = graph_.boards[board];
    if (lower_case(of.type) != "n300") return;
    const bool listed =
        std::any_of(graph_.links.begin(), graph_.links.end(), [&](const GraphLink& link) {
          return graph_.chips[link.from].board == board && graph_.chips[link.to].board == board;
        });
    if (listed) return;
    for (const Trace& trace : traces) {
      add_link({fmt::format("L:{}", trace.from_port), fmt::format("R:{}", trace.to_port), true, 0},
               of.serial, LinkState::assumed);
    }
  }

  Graph graph_;
};

}  // namespace

std::optional<End> parse_end(std::string_view text, std::string_view board) {
  const auto slash = text.rfind('/');
  if (slash != std::string_view::npos) {
    board = text.substr(0, slash);
    text.remove_prefix(slash + 1);
  }
  const auto colon = text.find(':');
  End end;
  end.board = lower_case(board);
  end.chip = text.substr(0, colon);
  if (colon != std::string_view::npos) end.port = text.substr(colon + 1);
  if (end.chip.empty()) return std::nullopt;
  return end;
}

std::string to_text(const End& end) {
  return fmt::format("{}{}{}{}{}", end.board, end.board.empty() ? "" : "/", end.chip,
                     end.port.empty() ? "" : ":", end.port);
}

std::optional<std::size_t> Graph::find(std::string_view board, std::string_view chip) const {
  const std::string wanted = lower_case(board);
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (chips[i].id == chip && lower_case(boards[chips[i].board].serial) == wanted) return i;
  }
  return std::nullopt;
}

std::string Graph::name(std::size_t chip) const {
  return to_text({boards[chips[chip].board].serial, chips[chip].id, ""});
}

std::string Graph::name(const GraphLink& link) const {
  const auto end = [&](std::size_t chip, const std::string& port) {
    return to_text({boards[chips[chip].board].serial, chips[chip].id, port});
  };
  return end(link.from, link.from_port) + " to " + end(link.to, link.to_port);
}

Graph make_graph(const Report& report, const Expected& expected) {
  return Builder().build(report, expected);
}

bool healthy(const Graph& graph, std::size_t chip) {
  // A chip that could not be examined is as good as its board: R is rarely looked at.
  const Verdict own = graph.chips[chip].verdict;
  return usable(graph.boards[graph.chips[chip].board].verdict) &&
         (usable(own) || own == Verdict::unknown);
}

}  // namespace trainward::hwprobe

#include "hwprobe/topology/connectors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "common/base/number_in.hpp"
#include "common/base/text.hpp"

namespace trainward::hwprobe {
namespace {

struct Row {
  int chip = 0;   // L is 0 and R is 1; on the tray of a Galaxy 1 to 8
  int first = 0;  // channels, both included
  int last = 0;
  std::string_view name;
};

constexpr std::array n300{
    Row{0, 6, 7, "QSFP 1"},    Row{0, 0, 1, "QSFP 2"},       Row{0, 14, 15, "WARP100 1"},
    Row{1, 6, 7, "WARP100 2"}, Row{0, 8, 9, on_board_trace}, Row{1, 0, 1, on_board_trace},
};

constexpr std::array n150{
    Row{0, 6, 7, "QSFP 1"},
    Row{0, 0, 1, "QSFP 2"},
    Row{0, 14, 15, "WARP100 1"},
};

// What is not listed here is a trace on the tray: all 16 channels of a chip are in use.
constexpr std::array galaxy{
    Row{5, 4, 7, "QSFP 1"},
    Row{1, 4, 7, "QSFP 2"},
    Row{1, 0, 3, "QSFP 3"},
    Row{2, 0, 3, "QSFP 4"},
    Row{3, 0, 3, "QSFP 5"},
    Row{4, 0, 3, "QSFP 6"},
    Row{5, 12, 15, "linking board 1"},
    Row{6, 12, 15, "linking board 1"},
    Row{7, 12, 15, "linking board 2"},
    Row{8, 12, 15, "linking board 2"},
    Row{8, 8, 11, "linking board 3"},
    Row{4, 8, 11, "linking board 3"},
};
constexpr std::array<std::string_view, 4> galaxy_types{"galaxy-wormhole", "tt-galaxy-wh", "ubb",
                                                       "ubb_wormhole"};
constexpr int channels_of_a_chip = 16;

// 5 for a chip called "5", and for the only chip of "0000:c5:00.0".
std::optional<int> place_on_tray(std::string_view bus_id, std::string_view chip) {
  auto place = number_in<int>(chip);
  if (!place) {
    const auto bus = bus_id.find(':');
    if (bus == std::string_view::npos) return std::nullopt;
    place = number_in<int>(bus_id.substr(bus + 1, 2), 16);
    if (place) *place %= 16;
  }
  return place && *place >= 1 && *place <= 8 ? place : std::nullopt;
}

std::string_view look_up(std::span<const Row> rows, int chip, int channel) {
  const auto row = std::ranges::find_if(rows, [&](const Row& candidate) {
    return candidate.chip == chip && candidate.first <= channel && channel <= candidate.last;
  });
  return row == rows.end() ? std::string_view{} : row->name;
}

BoardKind kind_of(const Graph& graph, std::size_t chip) {
  const GraphBoard& board = graph.boards[graph.chips[chip].board];
  return {board.type, board.bus_id};
}

void add_once(std::vector<std::string_view>& words, std::string_view word) {
  if (!word.empty() && std::ranges::find(words, word) == words.end()) words.push_back(word);
}

}  // namespace

std::string_view connector_of(const BoardKind& board, std::string_view chip,
                              std::string_view channel) {
  const auto number = number_in<int>(channel);
  if (!number || *number < 0 || *number >= channels_of_a_chip) return {};
  const std::string type = lower_case(board.type);
  if (std::ranges::find(galaxy_types, type) != galaxy_types.end()) {
    const auto place = place_on_tray(board.bus_id, chip);
    if (!place) return {};
    const std::string_view listed = look_up(galaxy, *place, *number);
    return listed.empty() ? on_board_trace : listed;
  }
  if (chip != "L" && chip != "R") return {};
  const int side = chip == "L" ? 0 : 1;
  if (type == "n300") return look_up(n300, side, *number);
  return type == "n150" ? look_up(n150, side, *number) : std::string_view{};
}

std::string_view socket_of(const BoardKind& board, const End& end) {
  const std::string_view connector = connector_of(board, end.chip, end.port);
  return connector == on_board_trace ? std::string_view{} : connector;
}

std::string with_connector(std::string end, std::string_view connector) {
  return connector.empty() ? std::move(end) : fmt::format("{} ({})", end, connector);
}

std::string name_with_connectors(const Graph& graph, std::span<const GraphLink> links) {
  const std::size_t from = links.front().from;
  const std::size_t to = links.front().to;
  const bool leaves = graph.chips[from].board != graph.chips[to].board;
  std::vector<std::string_view> on_board;
  const auto end = [&](std::size_t chip, std::string GraphLink::*port) {
    std::vector<std::string_view> ports;
    std::vector<std::string_view> sockets;
    for (const GraphLink& link : links) {
      add_once(ports, link.*port);
      const auto name = connector_of(kind_of(graph, chip), graph.chips[chip].id, link.*port);
      add_once(name == on_board_trace ? on_board : sockets, name);
    }
    const std::string text = graph.name(chip) + (ports.empty() ? "" : ":");
    return with_connector(fmt::format("{}{}", text, fmt::join(ports, ",")),
                          fmt::format("{}", fmt::join(sockets, ", ")));
  };
  const std::string first = end(from, &GraphLink::from_port);
  const std::string second = end(to, &GraphLink::to_port);
  const bool trace = !leaves && !on_board.empty();
  return with_connector(fmt::format("{} to {}", first, second), trace ? on_board_trace : "");
}

}  // namespace trainward::hwprobe

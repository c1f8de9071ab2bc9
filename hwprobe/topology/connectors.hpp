// Which connector of a board a channel of one of its chips leads to, so that a fault names the
// plug to look at and not only a channel.
//
// In: the type of the board, the chip, the channel. Out: "QSFP 1", "WARP100 2", "linking board 3"
// or "on-board trace"; nothing for boards and channels that are not in the table. Pure.
//
// Sources: tt-metal, tools/scaleout/board/board.cpp (channels of N150, N300 and the trays of a
// Galaxy) and its users there for the bus of a Galaxy's chips: the last digit of the bus number is
// the place of the chip on its tray.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hwprobe/topology/ends.hpp"
#include "hwprobe/topology/topology_graph.hpp"

namespace trainward::hwprobe {

struct BoardKind {
  std::string_view type;    // "n300", "n150", "galaxy-wormhole", whatever its case
  std::string_view bus_id;  // tells the chips of a Galaxy apart
};

inline constexpr std::string_view on_board_trace = "on-board trace";

std::string_view connector_of(const BoardKind& board, std::string_view chip,
                              std::string_view channel);
// Nothing for a trace either: where the link leaves the board, that would be a wrong name.
std::string_view socket_of(const BoardKind& board, const End& end);

// "a/L:6 (QSFP 1)"; without a connector "a/L:6".
std::string with_connector(std::string end, std::string_view connector);

// Links between the same two chips, of which there is at least one: "a/L:6,7 (QSFP 1) to b/L:6,7
// (QSFP 1)", and where they do not leave their board "a/L:8,9 to a/R:0,1 (on-board trace)".
std::string name_with_connectors(const Graph& graph, std::span<const GraphLink> links);

}  // namespace trainward::hwprobe

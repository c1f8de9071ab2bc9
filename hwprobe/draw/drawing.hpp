// Chips and links as a drawing of plain characters, for people.
//
//   010001451170c0c4  n300  0000:41:00.0  DEGRADED
//     +-------------+               +-------------+
//     | L  OK  57°C | 8 --------- 0 | R  OK  38°C |
//     |             | 9 ----x---- 1 |             |
//     +-------------+               +-------------+
//       L:0 --------- 0100014511708037/L:1
//
//   --------- up   ----x---- down
//
// Under a board stand its links to other boards, each link once; a broken one with its connectors.
// The last line explains the links that were drawn. With colours the same characters stand at the
// same places. Words from elsewhere are made safe for a terminal.
#pragma once

#include <string>

#include "hwprobe/topology/topology_graph.hpp"

namespace trainward::hwprobe {

// Empty for a graph without boards.
std::string draw(const Graph& graph, bool colours);

}  // namespace trainward::hwprobe

// Hosts for the tests of this folder, and short ways to say what is wrong with them.
#pragma once

#include <fmt/format.h>

#include <string>

#include "hwprobe/topology/topology_graph.hpp"

namespace trainward::hwprobe::sample {

// Serial numbers a, b, c, … stand for sixteen digits.
inline Board n300(const std::string& serial) {
  Board board;
  board.serial = serial;
  board.type = "n300";
  board.verdict = Verdict::ok;
  board.chips = {{"L", Verdict::ok, "test", 50, {}}, {"R", Verdict::ok, "test", 0, {}}};
  board.links = {{"L:8", "R:0", true, 0}, {"L:9", "R:1", true, 0}};
  return board;
}

// A cable between chips of two boards: "a/L" to "b/L".
inline Link cable(const std::string& from, const std::string& to, bool up = true) {
  return {from + ":0", to + ":1", up, 0};
}

// Four N300, their chips in two rows of four, every two neighbours linked:
//   a/L b/L c/L d/L
//   a/R b/R c/R d/R
inline Report two_by_four() {
  Report report;
  report.source = "test";
  for (const char* serial : {"a", "b", "c", "d"}) report.boards.push_back(n300(serial));
  for (std::size_t i = 0; i + 1 < report.boards.size(); ++i) {
    for (const char* side : {"L", "R"}) {
      report.boards[i].links.push_back(
          cable(fmt::format("{}/{}", report.boards[i].serial, side),
                fmt::format("{}/{}", report.boards[i + 1].serial, side)));
    }
  }
  return report;
}

}  // namespace trainward::hwprobe::sample

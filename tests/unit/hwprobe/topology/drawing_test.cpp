#include "hwprobe/draw/drawing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwprobe/draw/board_table.hpp"
#include "sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::cable;
using sample::n300;
using testing::HasSubstr;
using testing::Not;

Report two_boards() {
  Report report;
  report.boards = {n300("a"), n300("b")};
  report.boards[0].bus_id = "0000:41:00.0";
  report.boards[0].links[1].up = false;
  report.boards[0].links.push_back(cable("a/L", "b/L"));
  report.boards[1].links[0].retrains = 2;
  return report;
}

std::string without_colours(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = text.find('m', i);
    } else {
      out += text[i];
    }
  }
  return out;
}

TEST(Drawings, ShowBoardsChipsAndLinks) {
  EXPECT_EQ(draw(make_graph(two_boards()), false),
            "a  n300  0000:41:00.0  OK\n"
            "  +-------------+               +-------+\n"
            "  | L  OK  50°C | 8 --------- 0 | R  OK |\n"
            "  |             | 9 ----x---- 1 |       |\n"
            "  +-------------+               +-------+\n"
            "    L:0 --------- b/L:1\n"
            "\n"
            "b  n300  OK\n"
            "  +-------------+               +-------+\n"
            "  | L  OK  50°C | 8 ----~---- 0 | R  OK |\n"
            "  |             | 9 --------- 1 |       |\n"
            "  +-------------+               +-------+\n"
            "\n"
            "--------- up   ----~---- up, was retrained   ----x---- down\n");
}

TEST(Drawings, ColoursChangeNothingElse) {
  const Report report = two_boards();
  const Graph graph = make_graph(report);
  const std::string coloured = draw(graph, true);
  EXPECT_THAT(coloured, HasSubstr("\x1b[32mOK\x1b[0m"));
  EXPECT_THAT(coloured, HasSubstr("\x1b[31m----x----\x1b[0m"));
  EXPECT_EQ(without_colours(coloured), draw(graph, false));
  EXPECT_EQ(without_colours(to_table(report, true)), to_table(report));
  EXPECT_THAT(to_table(report, true), HasSubstr("\x1b[32mOK\x1b[0m"));
}

TEST(Drawings, ChipsWithoutLinksAndBoardsWithoutChips) {
  Report report;
  report.boards = {n300("a"), n300("b"), n300("c")};
  report.boards[0].type = "other";
  report.boards[0].links.clear();
  report.boards[1].chips.clear();
  report.boards[2].chips = {{"0", Verdict::ok, "", 0, {}},
                            {"1", Verdict::hot, "", 99, {}},
                            {"2", Verdict::ok, "", 0, {}}};
  report.boards[2].links = {{"0:1", "2:1", true, 0}};
  EXPECT_EQ(draw(make_graph(report), false),
            "a  other  OK\n"
            "  +-------------+   +-------+\n"
            "  | L  OK  50°C |   | R  OK |\n"
            "  +-------------+   +-------+\n"
            "\n"
            "b  n300  OK\n"
            "\n"
            "c  n300  OK\n"
            "  +-------+\n"
            "  | 0  OK |\n"
            "  +-------+\n"
            "  +--------------+\n"
            "  | 1  HOT  99°C |\n"
            "  +--------------+\n"
            "  +-------+\n"
            "  | 2  OK |\n"
            "  +-------+\n"
            "    0:1 --------- 2:1\n"
            "\n"
            "--------- up\n");
  EXPECT_EQ(draw({}, true), "");
}

TEST(Drawings, WordsFromElsewhereCannotCommandTheTerminal) {
  Report report = two_boards();
  report.boards[0].serial = "a\x1b[2J" + std::string(100, 'x');
  report.boards[0].chips[0].id = "L\n\x07";
  report.boards[0].evidence = {{"\x1b]0;title", "\x1b[31m"}};
  for (const std::string& text : {draw(make_graph(report), false), to_table(report)}) {
    EXPECT_THAT(text, Not(HasSubstr("\x1b")));
    EXPECT_THAT(text, Not(HasSubstr("\x07")));
  }
}

TEST(Drawings, TheTableGrowsWithItsWords) {
  Report report;
  report.boards = {n300("GPU-82e06c4f-3f35-01bb-8378-f6d8f1bc6953"), n300("b")};
  report.boards[0].type = "NVIDIA H200";
  EXPECT_EQ(to_table(report),
            "BOARD                                    TYPE        BUS           CHIPS              "
            "          VERDICT\n"
            "GPU-82e06c4f-3f35-01bb-8378-f6d8f1bc6953 NVIDIA H200 -             L OK 50°C, R OK    "
            "          OK\n"
            "b                                        n300        -             L OK 50°C, R OK    "
            "          OK\n");
}

}  // namespace
}  // namespace trainward::hwprobe

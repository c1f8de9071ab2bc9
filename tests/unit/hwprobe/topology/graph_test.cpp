#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hwprobe/topology/ends.hpp"
#include "hwprobe/topology/topology_graph.hpp"
#include "sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::cable;
using sample::n300;

Report report_of(std::vector<Board> boards) {
  Report report;
  report.boards = std::move(boards);
  return report;
}

TEST(Ends, AreReadWithAndWithoutTheirBoard) {
  EXPECT_EQ(parse_end("L:8", "AB"), (End{"ab", "L", "8"}));
  EXPECT_EQ(parse_end("CD/R:0", "ab"), (End{"cd", "R", "0"}));
  EXPECT_EQ(parse_end("L", "ab"), (End{"ab", "L", ""}));
  EXPECT_EQ(parse_end("", "ab"), std::nullopt);
  EXPECT_EQ(parse_end("cd/:0", "ab"), std::nullopt);
  EXPECT_EQ(to_text({"cd", "R", "0"}), "cd/R:0");
}

TEST(Graphs, OnBoardLinksAreTaken) {
  Board board = n300("a");
  board.links[1].up = false;
  board.links[0].retrains = 3;
  const Graph graph = make_graph(report_of({board}));
  ASSERT_EQ(graph.links.size(), 2U);
  EXPECT_EQ(graph.links[0].state, LinkState::up);
  EXPECT_EQ(graph.links[0].retrains, 3);
  EXPECT_EQ(graph.links[1].state, LinkState::down);
  EXPECT_EQ(graph.name(graph.links[1]), "a/L:9 to a/R:1");
}

TEST(Graphs, TracesOfAnN300AreAssumedWhenNobodyLooked) {
  Board board = n300("a");
  board.links.clear();
  const Graph graph = make_graph(report_of({board}));
  ASSERT_EQ(graph.links.size(), 2U);
  for (const GraphLink& link : graph.links) EXPECT_EQ(link.state, LinkState::assumed);
  board.type = "n150";
  EXPECT_TRUE(make_graph(report_of({board})).links.empty());
}

TEST(Graphs, ACableThatBothBoardsListIsOneLink) {
  Board a = n300("a");
  Board b = n300("b");
  a.links.push_back({"L:6", "b/R:7", true, 1});
  b.links.push_back({"R:7", "A/L:6", false, 2});
  const Graph graph = make_graph(report_of({a, b}));
  ASSERT_EQ(graph.links.size(), 5U);
  const auto between = std::ranges::find_if(graph.links, [&](const GraphLink& link) {
    return graph.chips[link.from].board != graph.chips[link.to].board;
  });
  ASSERT_NE(between, graph.links.end());
  EXPECT_EQ(graph.name(*between), "a/L:6 to b/R:7");
  EXPECT_EQ(between->state, LinkState::down) << "one of them saw it down";
  EXPECT_EQ(between->retrains, 2);
}

TEST(Graphs, ExpectedCablesAreAssumedUnlessSomebodyLooked) {
  const Report report = report_of({n300("a"), n300("b")});
  Expected expected;
  expected.links = {cable("a/L", "b/L"), cable("a/R", "b/R"), cable("a/R", "elsewhere/R")};
  EXPECT_EQ(make_graph(report).links.size(), 4U);
  EXPECT_EQ(make_graph(report, expected).links.size(), 6U);

  Report looked = report;
  looked.boards[0].links.push_back(cable("a/L", "b/L", false));
  const Graph graph = make_graph(looked, expected);
  EXPECT_EQ(graph.links.size(), 6U);
  EXPECT_EQ(std::ranges::count(graph.links, LinkState::down, &GraphLink::state), 1);
}

TEST(Graphs, LinksToNowhereAreLeftOut) {
  Board board = n300("a");
  board.links.push_back({"L:0", "X:0", true, 0});
  board.links.push_back({"L:0", "b/L:0", true, 0});
  board.links.push_back({"", "L:0", true, 0});
  board.links.push_back({"L:0", "L:1", true, 0});
  EXPECT_EQ(make_graph(report_of({board})).links.size(), 2U);
}

TEST(Graphs, TheOrderOfTheReportDoesNotMatter) {
  constexpr unsigned seed = 20;
  std::mt19937 random(seed);
  const auto names = [](const Graph& graph) {
    std::vector<std::string> out;
    for (const GraphLink& link : graph.links) out.push_back(graph.name(link));
    return out;
  };
  Report report = sample::two_by_four();
  const auto expected = names(make_graph(report));
  EXPECT_EQ(expected.size(), 14U);
  for (int i = 0; i < 50; ++i) {
    std::ranges::shuffle(report.boards, random);
    for (Board& board : report.boards) {
      std::ranges::shuffle(board.chips, random);
      std::ranges::shuffle(board.links, random);
    }
    ASSERT_EQ(names(make_graph(report)), expected) << "seed " << seed << ", round " << i;
  }
}

TEST(Graphs, AChipIsHealthyWhenItsBoardIs) {
  Report report = report_of({n300("a"), n300("b"), n300("c"), n300("d")});
  report.boards[0].chips[1].verdict = Verdict::unknown;  // R, which nobody looked at
  report.boards[1].verdict = Verdict::degraded;
  report.boards[2].verdict = Verdict::busy;
  report.boards[3].chips[0].verdict = Verdict::hot;
  const Graph graph = make_graph(report);
  std::vector<bool> healthy_ones;
  for (std::size_t i = 0; i < graph.chips.size(); ++i) healthy_ones.push_back(healthy(graph, i));
  EXPECT_EQ(healthy_ones, (std::vector<bool>{true, true, true, true, false, false, false, true}));
}

}  // namespace
}  // namespace trainward::hwprobe

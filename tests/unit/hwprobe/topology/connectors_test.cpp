#include "hwprobe/topology/connectors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::cable;
using sample::n300;

TEST(Connectors, OfAnN300AndAnN150) {
  struct Case {
    const char* chip;
    int channel;
    std::string_view of_n300;
    std::string_view of_n150;
  };
  const Case cases[] = {
      {"L", 6, "QSFP 1", "QSFP 1"},
      {"L", 7, "QSFP 1", "QSFP 1"},
      {"L", 0, "QSFP 2", "QSFP 2"},
      {"L", 1, "QSFP 2", "QSFP 2"},
      {"L", 14, "WARP100 1", "WARP100 1"},
      {"L", 15, "WARP100 1", "WARP100 1"},
      {"R", 6, "WARP100 2", ""},
      {"R", 7, "WARP100 2", ""},
      {"L", 8, on_board_trace, ""},
      {"L", 9, on_board_trace, ""},
      {"R", 0, on_board_trace, ""},
      {"R", 1, on_board_trace, ""},
      {"L", 5, "", ""},
      {"R", 14, "", ""},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{}:{}", one.chip, one.channel));
    const std::string channel = std::to_string(one.channel);
    EXPECT_EQ(connector_of({"N300", ""}, one.chip, channel), one.of_n300);
    EXPECT_EQ(connector_of({"n150", ""}, one.chip, channel), one.of_n150);
  }
}

TEST(Connectors, OfAGalaxyFollowFromThePlaceOnTheTray) {
  const BoardKind fifth{"galaxy-wormhole", "0000:85:00.0"};
  EXPECT_EQ(connector_of(fifth, "L", "4"), "QSFP 1");
  EXPECT_EQ(connector_of(fifth, "L", "15"), "linking board 1");
  EXPECT_EQ(connector_of(fifth, "L", "0"), on_board_trace);
  EXPECT_EQ(connector_of({"tt-galaxy-wh", "0000:C8:00.0"}, "L", "12"), "linking board 2");
  EXPECT_EQ(connector_of({"galaxy-wormhole", "0000:44:00.0"}, "L", "8"), "linking board 3");
  EXPECT_EQ(connector_of({"ubb", ""}, "3", "0"), "QSFP 5");
}

TEST(Connectors, OfWhatIsNotKnownHaveNoName) {
  EXPECT_EQ(connector_of({"p150", ""}, "L", "6"), "");
  EXPECT_EQ(connector_of({"", ""}, "", ""), "");
  for (const char* channel : {"", "-1", "16", "6 ", "six", "99999999999"}) {
    EXPECT_EQ(connector_of({"n300", ""}, "L", channel), "") << channel;
    EXPECT_EQ(connector_of({"ubb", ""}, "1", channel), "") << channel;
  }
  for (const char* bus : {"", ":", "0000", "0000:", "0000:c0:00.0", "0000:c9:00.0", "0000:zz"}) {
    EXPECT_EQ(connector_of({"galaxy-wormhole", bus}, "L", "4"), "") << bus;
  }
}

TEST(Connectors, AreNamedWithTheEndsOfALink) {
  Report report;
  report.boards = {n300("a"), n300("b")};
  report.boards[0].links.push_back({"L:6", "b/L:0", false, 0});
  report.boards[0].links.push_back({"L:7", "b/L:1", false, 0});
  report.boards[0].links.push_back(cable("a/R", "b/R"));
  const Graph graph = make_graph(report);
  std::vector<GraphLink> traces;
  std::vector<GraphLink> cables;
  std::vector<GraphLink> odd;
  for (const GraphLink& link : graph.links) {
    if (link.from == 0) (link.to == 1 ? traces : cables).push_back(link);
    if (link.from == 1) odd.push_back(link);
  }
  EXPECT_EQ(name_with_connectors(graph, traces), "a/L:8,9 to a/R:0,1 (on-board trace)");
  EXPECT_EQ(name_with_connectors(graph, cables), "a/L:6,7 (QSFP 1) to b/L:0,1 (QSFP 2)");
  EXPECT_EQ(name_with_connectors(graph, {cables.data(), 1}), "a/L:6 (QSFP 1) to b/L:0 (QSFP 2)");
  EXPECT_EQ(name_with_connectors(graph, odd), "a/R:0 to b/R:1") << "no trace leaves a board";
  const GraphLink bare{0, 2, "", "", LinkState::down, 0};
  EXPECT_EQ(name_with_connectors(graph, {&bare, 1}), "a/L to b/L");
}

}  // namespace
}  // namespace trainward::hwprobe

#include "hwprobe/described/link_ranges.hpp"

#include <gmock/gmock.h>

#include "fake_host.hpp"
#include "hwprobe/described/described.hpp"

namespace trainward::hwprobe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using DescribedLinks = FakeHost;

TEST(LinkRanges, AreLinksOfTheirChannelsInOrder) {
  EXPECT_THAT(*links_between_ends("L:8-10", "b/R:0-2"),
              ElementsAre(Pair("L:8", "b/R:0"), Pair("L:9", "b/R:1"), Pair("L:10", "b/R:2")));
  EXPECT_THAT(*links_between_ends("L:15-15", "R:0-0"), ElementsAre(Pair("L:15", "R:0")));
}

TEST(LinkRanges, EndsWithoutARangeStayAsTheyAre) {
  for (const char* end : {"R:0", "R:15", "a-b/R:0"}) {
    EXPECT_THAT(*links_between_ends("L:8", end), ElementsAre(Pair("L:8", end)));
  }
}

TEST(LinkRanges, WhatIsNoEndIsRefused) {
  for (const char* end :
       {"", "R", "R:", ":0", "R:16", "X:0", "R:x", "R:1 ", "/R:0", "b/:0", "b/c"}) {
    const auto links = links_between_ends("L:8", end);
    ASSERT_FALSE(links) << end;
    EXPECT_THAT(links.error().what, testing::StartsWith(std::string(end) + " is no end of a link"));
    EXPECT_FALSE(links_between_ends(end, "L:8")) << end;
  }
}

TEST(LinkRanges, ThatDoNotMatchAreRefused) {
  for (const char* end : {"R:x-y", "R:-1", "R:1-", "R:1-2-3"}) {
    EXPECT_FALSE(links_between_ends("L:8", end)) << end;
  }
  for (const char* end : {"R:0", "R:0-1", "R:0-3", "R:2-0", "R:14-16", "R:0-99999999999"}) {
    EXPECT_FALSE(links_between_ends("L:8-10", end)) << end;
    EXPECT_FALSE(links_between_ends(end, "L:8-10")) << end;
  }
  EXPECT_FALSE(links_between_ends("L:0-2147483647", "R:0-2147483647"));
}

TEST_F(DescribedLinks, ShareWhatTheirEntrySays) {
  const auto report = look_at_described(write("h.yaml", R"(boards:
  - serial: "00000000000000aa"
    chips: [{id: L}, {id: R}]
    links: [{from: "L:8-9", to: "R:0-1", up: false, retrains: 3}]
)"));
  ASSERT_TRUE(report) << report.error().message();
  const Board& board = report->boards.at(0);
  ASSERT_EQ(board.links.size(), 2U);
  EXPECT_EQ(board.links[1].from, "L:9");
  EXPECT_EQ(board.links[1].to, "R:1");
  for (const Link& link : board.links) {
    EXPECT_FALSE(link.up);
    EXPECT_EQ(link.retrains, 3);
  }
  EXPECT_EQ(board.verdict, Verdict::remote_lost);
}

TEST_F(DescribedLinks, WrongRangesAndTooManyAreReportedWithTheirPlace) {
  const auto look = [&](const std::string& links) {
    const auto report = look_at_described(
        write("h.yaml", "boards:\n  - serial: \"00000000000000aa\"\n    links:\n" + links));
    return report ? std::string("no error") : report.error().message();
  };
  EXPECT_THAT(look("      - {from: \"L:8-9\", to: \"R:0\"}\n"),
              HasSubstr("h.yaml:4:29: boards[0].links[0].to: expected as many channels"));
  EXPECT_THAT(look("      - {from: \"L:8-9\"}\n"), HasSubstr("missing key 'to'"));
  std::string many;
  for (int i = 0; i < 5; ++i) many += "      - {from: \"L:0-15\", to: \"R:0-15\"}\n";
  EXPECT_THAT(look(many), HasSubstr("boards[0].links: expected at most 64 links, found 80"));
}

}  // namespace
}  // namespace trainward::hwprobe

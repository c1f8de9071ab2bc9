#include "hwprobe/topology/expected.hpp"

#include <gtest/gtest.h>

#include "hwprobe/health.hpp"
#include "sample.hpp"

namespace trainward::hwprobe {
namespace {

using sample::cable;
using sample::n300;

Expected expect_boards(std::vector<std::string> serials) {
  Expected expected;
  for (std::string& serial : serials) {
    expected.boards.push_back({std::move(serial), "n300", "", {"L", "R"}});
  }
  return expected;
}

TEST(Expectations, WhatIsThereStaysAsItIs) {
  Report report = sample::two_by_four();
  const json::object before = to_json(report);
  Expected expected = expect_boards({"A", "b", "c", "d"});
  expected.links = {cable("a/L", "b/L"), cable("b/R", "d/R")};
  apply_expected(report, expected);
  EXPECT_EQ(to_json(report), before);
  apply_expected(report, {});
  EXPECT_EQ(to_json(report), before);
}

TEST(Expectations, AMissingBoardIsAbsent) {
  Report report;
  report.boards = {n300("a")};
  apply_expected(report, expect_boards({"a", "b"}));
  ASSERT_EQ(report.boards.size(), 2U);
  EXPECT_EQ(report.boards[1].verdict, Verdict::absent);
  EXPECT_EQ(report.boards[1].chips.size(), 2U);
  EXPECT_EQ(report.boards[1].evidence.at(0).what, "board b is expected and was not found");
  EXPECT_EQ(health(report), Health::degraded);
  EXPECT_TRUE(report_from_json(to_json(report)));
}

TEST(Expectations, AMissingChipRIsLost) {
  Report report;
  report.boards = {n300("a")};
  report.boards[0].chips.pop_back();
  apply_expected(report, expect_boards({"a"}));
  EXPECT_EQ(report.boards[0].verdict, Verdict::remote_lost);
  EXPECT_EQ(report.boards[0].chips.at(1).verdict, Verdict::absent);
  EXPECT_EQ(report.boards[0].evidence.at(0).what, "chip R is expected and was not found");
}

TEST(Expectations, ACableIsAFaultOnlyWhenItIsExpectedAndSeenDown) {
  Report report;
  report.boards = {n300("a"), n300("b")};
  report.boards[0].links.push_back(cable("a/L", "b/L", false));
  apply_expected(report, expect_boards({"a", "b"}));
  EXPECT_EQ(report.boards[0].verdict, Verdict::ok);

  Expected expected = expect_boards({"a", "b"});
  expected.links = {cable("a/L", "b/L"), cable("a/R", "b/R")};  // nobody looked at the second
  apply_expected(report, expected);
  for (const Board& board : report.boards) {
    EXPECT_EQ(board.verdict, Verdict::degraded);
    EXPECT_EQ(board.evidence.at(0).what, "the cable from a/L:0 (QSFP 2) to b/L:1 (QSFP 2) is down");
  }
}

TEST(Expectations, TheWorstEvidenceStaysFirst) {
  Report report;
  report.boards = {n300("a"), n300("b")};
  report.boards[0].verdict = Verdict::arc_dead;
  report.boards[0].evidence = {{"dead", ""}};
  report.boards[0].links.push_back(cable("a/L", "b/L", false));
  Expected expected;
  expected.links = {cable("b/L", "a/L")};
  expected.links[0] = {"b/L:1", "a/L:0", false, 0};  // the other way round
  apply_expected(report, expected);
  EXPECT_EQ(report.boards[0].verdict, Verdict::arc_dead);
  EXPECT_EQ(report.boards[0].evidence.at(0).what, "dead");
  EXPECT_EQ(report.boards[0].evidence.size(), 2U);
  EXPECT_EQ(report.boards[1].verdict, Verdict::degraded);
}

}  // namespace
}  // namespace trainward::hwprobe

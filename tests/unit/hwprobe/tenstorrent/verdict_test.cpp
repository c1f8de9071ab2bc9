#include "hwprobe/tenstorrent/judge/verdict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hwprobe/health.hpp"

namespace trainward::hwprobe {
namespace {

using testing::HasSubstr;

ChipFacts chip(const char* id, double temperature) {
  ChipFacts facts;
  facts.id = id;
  facts.temperature_c = temperature;
  facts.heartbeat = Heartbeat::alive;
  facts.looked_at = true;
  return facts;
}

Health health_of(const Board& board) {
  Report report;
  report.boards.push_back(board);
  return health(report);
}

BoardFacts healthy() {
  BoardFacts facts;
  facts.serial = "010001451170c0c4";
  facts.type = "n300";
  facts.firmware = "19.7.1.0";
  facts.chips = {chip("L", 57), chip("R", 38)};
  facts.links = {{"L:8", "R:0", true, 0}, {"L:9", "R:1", true, 0}};
  return facts;
}

TEST(Verdicts, HealthyBoardIsOkWithoutEvidence) {
  const Board board = judge(healthy());
  EXPECT_EQ(board.verdict, Verdict::ok);
  EXPECT_TRUE(board.evidence.empty());
}

TEST(Verdicts, OneLinkDownIsDegradedAndStaysUsable) {
  BoardFacts facts = healthy();
  facts.links[1].up = false;
  const Board board = judge(facts);
  EXPECT_EQ(board.verdict, Verdict::degraded);
  EXPECT_TRUE(usable(board.verdict));
  EXPECT_EQ(board.chips[1].verdict, Verdict::ok);
  EXPECT_EQ(board.evidence.at(0).what, "on-board link L:9 to R:1 is down (training failed)");
}

TEST(Verdicts, RetrainedLinkIsDegraded) {
  BoardFacts facts = healthy();
  facts.links[0].retrains = 1;
  const Board board = judge(facts);
  EXPECT_EQ(board.verdict, Verdict::degraded);
  EXPECT_EQ(board.evidence.at(0).what, "on-board link L:8 to R:0 was retrained once");
}

TEST(Verdicts, ALinkToAnotherBoardDoesNotLoseChipR) {
  BoardFacts facts = healthy();
  facts.links.push_back({"L:0", "X:0", false, 0});
  EXPECT_EQ(judge(facts).verdict, Verdict::degraded);
}

TEST(Verdicts, HeatIsJudgedByTheChipsOwnLimit) {
  BoardFacts facts = healthy();
  facts.chips[0].temperature_c = 75;
  EXPECT_EQ(judge(facts).verdict, Verdict::hot);
  facts.chips[0].limit_c = 90;
  EXPECT_EQ(judge(facts).verdict, Verdict::ok);
}

TEST(Verdicts, TheWorstComesFirst) {
  BoardFacts facts = healthy();
  facts.chips[0].heartbeat = Heartbeat::frozen;
  facts.chips[1].temperature_c = 99;
  facts.links[0].retrains = 2;
  const Board board = judge(facts);
  EXPECT_EQ(board.verdict, Verdict::arc_dead);
  ASSERT_EQ(board.evidence.size(), 3U);
  EXPECT_THAT(board.evidence[0].what, HasSubstr("heartbeat"));
  EXPECT_THAT(board.evidence[1].what, HasSubstr("99.0 °C"));
  EXPECT_THAT(board.evidence[2].what, HasSubstr("retrained 2 times"));
}

TEST(Verdicts, AnUnreadRemoteChipDoesNotSpoilTheBoard) {
  BoardFacts facts = healthy();
  facts.links.clear();
  facts.chips[1] = ChipFacts();
  facts.chips[1].id = "R";
  const Board board = judge(facts);
  EXPECT_EQ(board.verdict, Verdict::ok);
  EXPECT_EQ(board.chips[1].verdict, Verdict::unknown);
}

TEST(Verdicts, NothingKnownIsUnknown) {
  const Board board = judge(BoardFacts());
  EXPECT_EQ(board.verdict, Verdict::unknown);
  EXPECT_EQ(health_of(board), Health::unclear);
}

TEST(Verdicts, OffTheBusSaysNothingElse) {
  BoardFacts facts = healthy();
  facts.off_bus = true;
  facts.chips[0].temperature_c = 99;
  const Board board = judge(facts);
  EXPECT_EQ(board.verdict, Verdict::off_bus);
  EXPECT_EQ(board.evidence.size(), 1U);
  EXPECT_EQ(board.chips[1].verdict, Verdict::off_bus);
  facts.off_bus = false;
  facts.has_driver = false;
  EXPECT_EQ(judge(facts).verdict, Verdict::no_driver);
}

TEST(Verdicts, OldFirmwareIsDegraded) {
  BoardFacts facts = healthy();
  for (const char* old : {"18.2.0.0", "80.17.0.0", "17.9"}) {
    facts.firmware = old;
    EXPECT_EQ(judge(facts).verdict, Verdict::degraded) << old;
  }
  for (const char* fine : {"18.3.0.0", "19.7.1.0", "", "unknown", "."}) {
    facts.firmware = fine;
    EXPECT_EQ(judge(facts).verdict, Verdict::ok) << fine;
  }
}

TEST(Verdicts, ABusyBoardIsNotAFault) {
  BoardFacts facts = healthy();
  facts.holders = {17, 0};
  const Board board = judge(facts);
  EXPECT_EQ(board.verdict, Verdict::busy);
  EXPECT_EQ(board.evidence.at(0).what, "in use by process 17, 0");
  EXPECT_EQ(health_of(board), Health::healthy);
}

TEST(Verdicts, HealthOfAHost) {
  const auto host = [](std::vector<Verdict> verdicts) {
    Report report;
    for (const Verdict verdict : verdicts) {
      report.boards.emplace_back();
      report.boards.back().verdict = verdict;
    }
    return health(report);
  };
  EXPECT_EQ(host({}), Health::unusable);
  EXPECT_EQ(host({Verdict::ok, Verdict::ok}), Health::healthy);
  EXPECT_EQ(host({Verdict::ok, Verdict::absent}), Health::degraded);
  EXPECT_EQ(host({Verdict::degraded}), Health::degraded);
  EXPECT_EQ(host({Verdict::remote_lost, Verdict::hot}), Health::unusable);
  EXPECT_EQ(host({Verdict::unknown, Verdict::hot}), Health::unusable);
  EXPECT_EQ(host({Verdict::unknown}), Health::unclear);
}

}  // namespace
}  // namespace trainward::hwprobe

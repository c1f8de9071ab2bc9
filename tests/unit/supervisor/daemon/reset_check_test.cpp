#include "supervisor/daemon/boards/reset_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::daemon {
namespace {

using hwprobe::Board;
using hwprobe::Verdict;
using State = ResetCheck::State;
using testing::HasSubstr;

constexpr std::int64_t settle_ms = 180'000;

Board healthy() {
  Board board;
  board.serial = "A";
  board.verdict = Verdict::ok;
  board.chips = {{"L", Verdict::ok, "", 50, {}}, {"R", Verdict::ok, "", 40, {}}};
  board.links = {{"L:8", "R:0", true, 0}, {"L:9", "R:1", true, 0}, {"L:0", "B/L:1", false, 0}};
  return board;
}

State at(std::int64_t since_ms, const Board* after) {
  const Board before = healthy();
  return check_reset(&before, after, since_ms, settle_ms).state;
}

TEST(CheckReset, AsBeforeIsRestoredAtOnce) {
  const Board after = healthy();
  const auto check = check_reset(&after, &after, 0, settle_ms);
  EXPECT_EQ(check.state, State::restored);
  EXPECT_EQ(check.text, "OK, 2 chips, 2 links up");
}

TEST(CheckReset, ABoardThatIsGoneMayComeBackForTwoMinutes) {
  EXPECT_EQ(at(0, nullptr), State::not_yet);
  EXPECT_EQ(at(119'999, nullptr), State::not_yet);
  EXPECT_EQ(at(120'000, nullptr), State::failed);
  EXPECT_THAT(check_reset(nullptr, nullptr, 0, settle_ms).text, HasSubstr("gone from the bus"));
}

TEST(CheckReset, LinksGetThreeMinutesEverythingElseTwo) {
  Board after = healthy();
  after.links[1].up = false;
  EXPECT_EQ(at(179'999, &after), State::not_yet);
  EXPECT_EQ(at(180'000, &after), State::failed);
  after.links.erase(after.links.begin() + 1);
  EXPECT_EQ(at(180'000, &after), State::failed) << "a link that is not listed is not up";
  after = healthy();
  after.chips.pop_back();
  EXPECT_EQ(at(150'000, &after), State::not_yet);
  EXPECT_EQ(at(180'000, &after), State::failed);
  for (const Verdict verdict : {Verdict::remote_lost, Verdict::resetting}) {
    after = healthy();
    after.verdict = verdict;
    EXPECT_EQ(at(150'000, &after), State::not_yet);
  }
  for (const Verdict verdict : {Verdict::arc_dead, Verdict::noc_hung, Verdict::off_bus,
                                Verdict::absent, Verdict::unknown, Verdict::hot}) {
    after = healthy();
    after.verdict = verdict;
    EXPECT_EQ(at(119'999, &after), State::not_yet);
    EXPECT_EQ(at(120'000, &after), State::failed);
  }
}

TEST(CheckReset, AShorterTimeHoldsForBoth) {
  const Board before = healthy();
  EXPECT_EQ(check_reset(&before, nullptr, 100, 100).state, State::failed);
  EXPECT_EQ(check_reset(&before, nullptr, 99, 100).state, State::not_yet);
}

TEST(CheckReset, WhatWasNotThereBeforeIsNotMissed) {
  Board before = healthy();
  before.links[0].up = false;
  before.chips.pop_back();
  Board after = before;
  after.verdict = Verdict::degraded;
  EXPECT_EQ(check_reset(&before, &after, 0, settle_ms).state, State::restored);
  EXPECT_EQ(check_reset(nullptr, &after, 0, settle_ms).state, State::restored);
}

TEST(CheckReset, ABoardThatSomebodyTookMeanwhileIsWhole) {
  Board after = healthy();
  after.verdict = Verdict::busy;
  EXPECT_EQ(at(0, &after), State::restored);
}

}  // namespace
}  // namespace trainward::daemon

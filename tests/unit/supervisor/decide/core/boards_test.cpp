// Programs that run on several boards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "world.hpp"

namespace trainward::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

ProbeFinished pair_of(std::vector<std::string> serials) {
  ProbeFinished probe{{{"A", "OK", true, ""}, {"B", "OK", true, ""}, {"C", "OK", true, ""}}, ""};
  probe.set = BoardSet{std::move(serials), ""};
  return probe;
}

World mesh_world() {
  World world;
  world.policy.needs_board = true;
  world.policy.can_reset = true;
  world.feed(StartRequested{});
  return world;
}

TEST(Boards, TheSetOfTheShellIsWhatItRunsOn) {
  World world = mesh_world();
  world.feed(pair_of({"C", "A"})).feed(CheckpointSelected{});
  ASSERT_THAT(world.newest<Launch>(), SizeIs(1));
  EXPECT_EQ(world.newest<Launch>()[0].board, "C");
  EXPECT_THAT(world.newest<Launch>()[0].more_boards, ElementsAre("A"));
  EXPECT_THAT(world.newest<RecordEvent>().back().text, HasSubstr("on boards C, A"));
}

TEST(Boards, ARefusalIsToldOnceAndCostsNoAttempt) {
  World world = mesh_world();
  ProbeFinished refused = pair_of({});
  refused.set->refusal = "a mesh of 2x2 cannot be placed: the link from A/L:1 to B/L:2 is down";
  for (int look = 0; look < 5; ++look) {
    world.feed(refused);
    EXPECT_EQ(world.state.stage, Stage::backoff);
    EXPECT_THAT(world.state.reason, HasSubstr("the link from A/L:1 to B/L:2 is down"));
    world.feed(TimerFired{}, 3'600'000);
  }
  int told = 0;
  for (const RecordEvent& event : world.every<RecordEvent>()) {
    told += event.kind == "placement" ? 1 : 0;
  }
  EXPECT_EQ(told, 1);
  EXPECT_THAT(world.every<Repair>(), IsEmpty()) << "nothing is wrong with the boards";
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
  EXPECT_EQ(world.state.attempt, 1);
  world.feed(pair_of({"A", "B"}));
  EXPECT_EQ(world.state.boards.board, "A");
}

TEST(Boards, ALookWhileItWaitsIsNoNextAttempt) {
  World world = mesh_world();
  world.feed(pair_of({"A", "B"})).feed(CheckpointSelected{}).feed(WorkerStarted{42});
  world.feed(exited_with(1), 1'000);
  ProbeFinished none = pair_of({});
  none.set->refusal = "the link from A/L:1 to B/L:2 is down";
  for (int look = 0; look < 5; ++look) {
    if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 3'600'000);
    ASSERT_EQ(world.state.stage, Stage::probing);
    world.feed(none);
  }
  world.feed(TimerFired{}, 3'600'000).feed(pair_of({"A", "B"})).feed(CheckpointSelected{});
  ASSERT_THAT(world.newest<Launch>(), SizeIs(1));
  int told = 0;
  for (const RecordEvent& event : world.every<RecordEvent>()) {
    told += event.text.starts_with("next attempt") ? 1 : 0;
  }
  EXPECT_EQ(told, 1);
}

TEST(Boards, ASetWithABoardThatCannotBeUsedIsNotTaken) {
  World world = mesh_world();
  ProbeFinished probe = pair_of({"A", "B"});
  probe.boards[1].usable = false;
  world.feed(probe);
  EXPECT_THAT(world.newest<SelectCheckpoint>(), IsEmpty());
  world.feed(TimerFired{}, 3'600'000).feed(pair_of({"A", "D"}));
  EXPECT_THAT(world.newest<SelectCheckpoint>(), IsEmpty()) << "nobody has seen D";
}

TEST(Boards, AllAreSuspectsAreResetTogetherAndChargedEach) {
  World world = mesh_world();
  world.policy.quarantine.faults = 2;
  world.feed(pair_of({"A", "B"})).attempt_to_training(0);
  WorkerExited exit = exited_with(1);
  exit.matches = {{"eth", Cause::ethernet, 60, "Ethernet core timed out", "stderr.log:3"}};
  world.feed(exit);
  ASSERT_THAT(world.newest<RecordBoard>(), SizeIs(2));
  EXPECT_EQ(world.newest<RecordBoard>()[1].serial, "B");
  EXPECT_THAT(world.newest<RecordBoard>()[1].record.faults_wall_ms, SizeIs(1));
  world.feed(TimerFired{}, 600'000);
  ASSERT_THAT(world.every<Repair>(), SizeIs(1));
  EXPECT_EQ(world.every<Repair>()[0].serial, "A");
  EXPECT_THAT(world.every<Repair>()[0].more, ElementsAre("B"));
  world.feed(Repaired{Remedy::reset_board, "", "after 3s: A OK; B OK"});
  EXPECT_EQ(world.newest<RecordEvent>()[0].text, "boards A, B were reset; after 3s: A OK; B OK");

  ProbeFinished probe = pair_of({"A", "B"});
  probe.boards[0].record = world.state.boards.board_record;
  probe.boards[1].record = world.state.boards.more_boards.at(0).record;
  world.feed(probe).attempt_to_training(0).feed(exit);
  EXPECT_THAT(world.newest<RecordBoard>(), IsEmpty()) << "each would be in quarantine now";
}

// Without a reset command, and without a step: nobody can ever place it, and every board would go.
TEST(Boards, AFaultThatNobodyCanPlaceBarsNoneOfThemAndIsTriedAgainUntilABudgetIsSpent) {
  World world = mesh_world();
  world.policy.can_reset = false;
  WorkerExited exit = exited_with(1);
  exit.matches = {{"eth", Cause::ethernet, 60, "Ethernet core timed out", "stderr.log:3"}};
  ProbeFinished look = pair_of({"A", "B"});
  int attempts = 0;
  while (world.state.stage != Stage::fatal && attempts < 100) {
    world.feed(look);
    ASSERT_EQ(world.state.boards.board, "A") << attempts;
    look.boards[0].record = world.state.boards.board_record;
    look.boards[1].record = world.state.boards.more_boards.at(0).record;
    world.attempt_to_training(0).feed(exit);
    ++attempts;
    for (const RecordBoard& board : world.newest<RecordBoard>()) {
      ASSERT_EQ(board.record.quarantines, 0) << attempts;
      (board.serial == "A" ? look.boards[0] : look.boards[1]).record = board.record;
    }
    if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 600'000);
  }
  EXPECT_EQ(attempts, world.policy.budgets.attempts_without_progress);
  const auto told = world.every<RecordEvent>();
  EXPECT_TRUE(std::ranges::any_of(told, [](const RecordEvent& event) {
    return event.text == "which of boards A, B it was cannot be told, so none goes into quarantine";
  }));
}

TEST(Boards, WhenTheNextLookFindsOneBrokenTheOthersAreCleared) {
  World world = mesh_world();
  world.policy.can_reset = false;
  world.feed(pair_of({"A", "B"})).attempt_to_training(0);
  WorkerExited exit = exited_with(1);
  exit.matches = {{"eth", Cause::ethernet, 60, "Ethernet core timed out", "stderr.log:3"}};
  world.feed(exit);
  ASSERT_THAT(world.newest<RecordBoard>(), SizeIs(2));
  ProbeFinished look = pair_of({"A", "C"});
  look.boards[0].record = world.state.boards.board_record;
  ASSERT_THAT(look.boards[0].record.faults_wall_ms, SizeIs(1));
  look.boards[1] = {"B", "ARC_DEAD", false, "", world.state.boards.more_boards.at(0).record};
  world.feed(TimerFired{}, 600'000).feed(look);
  ASSERT_THAT(world.newest<RecordBoard>(), SizeIs(1));
  EXPECT_EQ(world.newest<RecordBoard>()[0].serial, "A");
  EXPECT_EQ(world.newest<RecordBoard>()[0].record, BoardRecord{});
  ASSERT_THAT(world.newest<Probe>(), SizeIs(1)) << "A may be chosen now";
  look.boards[0].record = {};
  world.feed(look);
  EXPECT_EQ(world.state.boards.board, "A");
  EXPECT_EQ(world.state.boards.board_record, BoardRecord{});
}

TEST(Boards, AResetOfABrokenBoardIsOfThatBoardAlone) {
  World world = mesh_world();
  world.feed(pair_of({"A", "B"})).attempt_to_training(0).feed(exited_with(1));
  world.feed(TimerFired{}, 600'000);
  ProbeFinished probe = pair_of({});
  probe.set->refusal = "board C is ARC_DEAD";
  probe.boards[2].usable = false;
  for (int i = 0; i < 4 && world.newest<Repair>().empty(); ++i) {
    world.feed(probe);
    if (world.newest<Repair>().empty()) world.feed(TimerFired{}, 3'600'000);
  }
  ASSERT_THAT(world.newest<Repair>(), SizeIs(1));
  EXPECT_EQ(world.newest<Repair>()[0].serial, "C");
  EXPECT_THAT(world.newest<Repair>()[0].more, IsEmpty());
}

TEST(Boards, AQuietDayIsToTheCreditOfEach) {
  World world = mesh_world();
  ProbeFinished probe = pair_of({"A", "B"});
  for (BoardFound& board : probe.boards) {
    board.record.faults_wall_ms = {world.time.wall - 86'400'001};
  }
  world.feed(probe).attempt_to_training(0).steps(1, 10);
  world.feed(CheckpointVerified{1, "/c/step-10", 10, 100, ""});
  ASSERT_THAT(world.newest<RecordBoard>(), SizeIs(2));
  for (const RecordBoard& board : world.newest<RecordBoard>()) {
    EXPECT_THAT(board.record.faults_wall_ms, IsEmpty());
  }
}

TEST(Boards, SetsSurviveTheDatabase) {
  World world = mesh_world();
  world.feed(pair_of({"A", "B"}));
  const auto again =
      state_from_json(parse_json(json::serialize(to_json(world.state)), "test").value());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, world.state);
  ASSERT_THAT(again->boards.more_boards, SizeIs(1));
  EXPECT_EQ(again->boards.more_boards[0].serial, "B");
}

TEST(Boards, WhatAResetFoundIsTold) {
  World world = mesh_world();
  const ProbeFinished broken{{{"A", "ARC_DEAD", false, "its heart stands still"}}, ""};
  world.feed(broken);
  ASSERT_EQ(world.state.stage, Stage::repairing);
  world.feed(Repaired{Remedy::reset_board, "in use by process 7", ""});
  EXPECT_EQ(world.newest<RecordEvent>()[0].text, "board A could not be reset: in use by process 7");
}

}  // namespace
}  // namespace trainward::core

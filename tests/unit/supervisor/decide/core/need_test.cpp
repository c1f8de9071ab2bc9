// Whether somebody has to act, over what happens to a program.
#include "supervisor/decide/core/need.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "world.hpp"

namespace trainward::core {
namespace {

using testing::HasSubstr;

WorkerExited failed(std::string rule, Cause cause, std::string line) {
  WorkerExited exit = exited_with(1);
  exit.matches.push_back({std::move(rule), cause, 60, std::move(line), "stderr.log:1"});
  return exit;
}

WorkerExited missing(const std::string& file) {
  return failed(std::string(missing_file_rule), Cause::data,
                "FileNotFoundError: [Errno 2] No such file or directory: '" + file + "'");
}

std::size_t told_of_attention(const World& world) {
  std::size_t times = 0;
  for (const RecordEvent& event : world.every<RecordEvent>()) {
    times += event.kind == "attention" ? 1 : 0;
  }
  return times;
}

struct Stranger : World {
  Stranger() {
    policy.foreign = true;
    policy.speaks = false;
    policy.told_to_resume = false;
    policy.keeps_checkpoints = false;
    policy.deadlines.silence_ms = 600'000;
  }
  // An attempt that ends so before its first step.
  Stranger& ends_at_once(const WorkerExited& exit, std::int64_t after_ms = 400) {
    if (state.stage == Stage::backoff) feed(TimerFired{}, 300'000);
    feed(CheckpointSelected{"", {}, ""});
    feed(WorkerStarted{42}, 5);
    feed(ActivitySeen{1000, 0}, after_ms);
    feed(exit);
    return *this;
  }
  [[nodiscard]] Snag snag() const { return snag_at(state, time.wall); }
};

TEST(Need, AMissingFileNeedsSomebodyAtOnceAndIsGivenUpTheSecondTime) {
  Stranger world;
  world.feed(StartRequested{});
  world.ends_at_once(missing("missing.json"));
  EXPECT_EQ(world.state.stage, Stage::backoff);
  EXPECT_EQ(world.snag(), Snag::missing_file);
  EXPECT_EQ(told_of_attention(world), 1U);
  world.ends_at_once(missing("missing.json"));
  EXPECT_EQ(world.state.stage, Stage::fatal);
  EXPECT_EQ(world.state.history.last_cause, Cause::config);
  EXPECT_THAT(world.state.reason, HasSubstr("missing.json"));
}

TEST(Need, OneFileAfterTheOtherIsNoProof) {
  Stranger world;
  world.feed(StartRequested{});
  world.ends_at_once(missing("a.json")).ends_at_once(missing("b.json"));
  EXPECT_NE(world.state.stage, Stage::fatal);
  EXPECT_EQ(world.snag(), Snag::missing_file);
}

// A share that is away takes the files of a run that has trained with it.
TEST(Need, AFileThatWasThereMayComeBack) {
  Stranger world;
  world.run_to_training();
  world.steps(1, 50);
  world.feed(exited_with(1));
  ASSERT_EQ(world.state.stage, Stage::selecting);
  for (int i = 0; i < 3; ++i) world.ends_at_once(missing("/mnt/share/data.bin"));
  EXPECT_EQ(world.state.stage, Stage::backoff);
  EXPECT_EQ(world.snag(), Snag::missing_file);
}

TEST(Need, AProgramThatWorkedWasSetUpWellEnough) {
  Stranger world;
  world.run_to_training();
  world.steps(1, 50);
  world.feed(failed("config-value", Cause::config, "ValueError: could not convert string"));
  EXPECT_NE(world.state.stage, Stage::fatal);
  EXPECT_EQ(world.state.history.last_cause, Cause::crash);
  Stranger silent;
  silent.feed(StartRequested{});
  silent.ends_at_once(failed("config-value", Cause::config, "ValueError: bad"), 3'600'000);
  EXPECT_NE(silent.state.stage, Stage::fatal);
  Stranger fresh;
  fresh.feed(StartRequested{});
  fresh.ends_at_once(failed("config-value", Cause::config, "ValueError: bad"));
  EXPECT_EQ(fresh.state.stage, Stage::fatal);
}

// The first of them was at the end of new steps.
TEST(Need, TheSecondEndAtOneStepNeedsSomebody) {
  World world;
  world.run_to_training();
  world.steps(1, 60);
  world.feed(CheckpointVerified{1, "/c/step50", {50}, 1, ""});
  world.feed(exited_with(1));
  EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::none);
  if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 300'000);
  world.attempt_to_training(50).steps(51, 60);
  world.feed(exited_with(1));
  EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::same_end);
}

TEST(Need, AFullDiskNeedsSomebodyUntilTheRunGetsFurther) {
  World world;
  world.run_to_training();
  world.steps(1, 100);
  world.feed(CheckpointVerified{1, "/c/step100", {100}, 1, ""});
  world.feed(failed("disk-full", Cause::disk, "OSError: [Errno 28] No space left on device"));
  const auto snag = [&] { return snag_at(world.state, world.time.wall); };
  EXPECT_EQ(snag(), Snag::disk);
  EXPECT_EQ(need_of(shown(world.state.stage), snag()), Need::must);
  world.attempt_to_training(100);
  EXPECT_EQ(world.state.stage, Stage::training);
  EXPECT_EQ(snag(), Snag::disk) << "RUNNING is not proof that there is space";
  world.steps(101, 102);
  world.feed(CheckpointVerified{2, "/c/step102", {102}, 1, ""});
  EXPECT_EQ(snag(), Snag::none);
  EXPECT_TRUE(world.every<RecordBoard>().empty()) << "no board is to blame";
}

TEST(Need, NoBoardForTwoMinutes) {
  for (const bool none_found : {true, false}) {
    SCOPED_TRACE(none_found);
    World world;
    world.policy.needs_board = true;
    world.feed(StartRequested{});
    ProbeFinished probe;
    if (!none_found) probe.boards.push_back({"A", "REMOTE_LOST", false, "chip R is gone", {}});
    world.feed(probe);
    EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::none);
    EXPECT_EQ(snag_at(world.state, world.time.wall + 120'000), Snag::no_board);
    for (int look = 0; look < 12; ++look) {
      world.feed(TimerFired{}, 20'000);
      if (world.state.stage == Stage::probing) world.feed(probe);
    }
    EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::no_board);
    EXPECT_EQ(told_of_attention(world), 1U);
    std::size_t told = 0;
    for (const RecordEvent& event : world.every<RecordEvent>()) told += event.kind == "board";
    EXPECT_EQ(told, none_found ? 1U : 2U) << "once a reason";
  }
}

TEST(Need, ABoardThatIsInUseIsWaitedForQuietly) {
  World world;
  world.policy.needs_board = true;
  world.feed(StartRequested{});
  world.feed(ProbeFinished{{{"A", "OK", false, "held by other", {}, true}}, "", {}});
  EXPECT_EQ(snag_at(world.state, world.time.wall + 86'400'000), Snag::none);
}

TEST(Need, TheSecondEqualEndWithoutProgress) {
  World world;
  world.policy.deadlines.train_floor_ms = 1'000;
  const auto hang = [&](std::int64_t step) {
    world.steps(step, step);
    world.feed(TimerFired{}, world.policy.deadlines.load_ms);
    ASSERT_EQ(world.state.stage, Stage::killing);
    world.feed(ended_by(9));
    if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 300'000);
    if (world.state.stage == Stage::repairing) world.feed(Repaired{Remedy::purge_caches});
  };
  world.run_to_training();
  hang(1);
  EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::none);
  world.attempt_to_training(0);
  hang(1);
  EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::same_end);
  world.attempt_to_training(0);
  EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::same_end) << "while the third runs, too";
  world.steps(1, 2);
  EXPECT_EQ(snag_at(world.state, world.time.wall), Snag::none) << "it is past that";
}

TEST(Need, WhatAWaitMayCureIsWaitedForLonger) {
  Stranger world;
  world.feed(StartRequested{});
  const auto refused = failed("network", Cause::network, "ConnectionRefusedError");
  for (int i = 0; i < 4; ++i) world.ends_at_once(refused);
  EXPECT_EQ(world.snag(), Snag::none);
  world.ends_at_once(refused);
  EXPECT_EQ(world.snag(), Snag::same_end);
  world.feed(StartRequested{});
  EXPECT_EQ(told_of_attention(world), 1U);
}

// The end that puts a board into quarantine does so once: a second time would double it.
TEST(Need, OneEndQuarantinesOnce) {
  World world;
  world.policy.needs_board = true;
  world.policy.quarantine.faults = 3;
  world.policy.can_reset = true;
  world.feed(StartRequested{});
  for (int end = 0; end < 3; ++end) {
    while (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 300'000);
    if (world.state.stage == Stage::repairing) world.feed(Repaired{Remedy::reset_board});
    const BoardRecord record = world.state.boards.board_record;
    world.feed(ProbeFinished{{{"A", "OK", true, "", record}}, "", {}});
    world.feed(CheckpointSelected{"", {}, ""}).feed(WorkerStarted{42}, 5);
    world.feed(failed("lost", Cause::device_lost, "chip is gone"), 100);
  }
  EXPECT_EQ(world.state.boards.board_record.quarantined_until_wall_ms - world.time.wall,
            world.policy.quarantine.for_ms);
}

// The next attempt begins in the turn in which the one before ends.
TEST(Need, AnEventBelongsToTheAttemptItIsAbout) {
  World world;
  world.run_to_training();
  world.steps(1, 9);
  world.feed(CheckpointVerified{1, "/c/9", {9}, 1, ""});
  world.feed(ended_by(9), 10);
  std::map<std::string, std::int64_t> attempts;
  for (const RecordEvent& event : world.newest<RecordEvent>()) attempts[event.kind] = event.attempt;
  EXPECT_EQ(attempts.at("exit"), 1);
  EXPECT_EQ(world.state.attempt, 2);
}

// What it has verified stays verified, whatever it goes on from.
TEST(Need, WhoeverFindsItsOwnPlaceKeepsWhatItHasKept) {
  Stranger world;
  world.policy.keeps_checkpoints = true;
  world.feed(StartRequested{}).feed(CheckpointSelected{}).feed(WorkerStarted{42}, 5);
  world.feed(StepDone{{30}, 1.0}, 10).feed(CheckpointVerified{1, "/c/30", {30}, 1, ""});
  world.feed(exited_with(1), 10);
  world.ends_at_once(failed("config", Cause::unknown, "FileNotFoundError: best"));
  EXPECT_EQ(world.state.history.kept_step, Step{30});
  EXPECT_THAT(world.newest<RecordAttemptEnded>().at(0).verdict,
              HasSubstr("before its first step (30 was reached before)"));
  EXPECT_EQ(world.state.history.attempts_without_progress, 1);
}

TEST(Need, WhoeverStartsItAnewHasLooked) {
  Stranger world;
  world.feed(StartRequested{});
  world.ends_at_once(missing("a.json"));
  world.feed(StopRequested{"uid 1000"});
  EXPECT_EQ(need_of(shown(world.state.stage), world.snag()), Need::may);
  world.feed(StartRequested{});
  EXPECT_EQ(world.snag(), Snag::none);
}

}  // namespace
}  // namespace trainward::core

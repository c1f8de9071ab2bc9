// An attempt that begins from what the one before left in memory, and when none may.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/decide/core/cause.hpp"
#include "world.hpp"

namespace trainward::core {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

class FromMemory : public testing::Test {
 protected:
  // The state after each step is in memory once the next one is done.
  void steps(std::int64_t from, std::int64_t to) {
    for (std::int64_t step = from; step <= to; ++step) {
      StepDone done{step, 1.0};
      done.in_memory = {step - 1};
      world_.feed(done, 10);
    }
  }
  void launch_from(std::int64_t disk, std::int64_t memory) {
    world_.feed(CheckpointSelected{disk == 0 ? "" : "/c/step", disk, ""});
    world_.feed(WorkerStarted{42}, 5);
    world_.feed(Resumed{memory, true}, 5);
  }

  World world_;
};

TEST_F(FromMemory, TheStepIsTheAttemptsOwn) {
  world_.run_to_training();
  steps(1, 9);
  world_.feed(ended_by(9), 10);
  EXPECT_EQ(world_.state.stage, Stage::selecting) << "what is in memory is progress: at once";
  launch_from(5, 8);
  ASSERT_THAT(world_.newest<RecordResumed>(), SizeIs(1));
  EXPECT_EQ(world_.newest<RecordResumed>()[0].step.number, 8);
  EXPECT_EQ(world_.state.current.resume_step.number, 8);
  EXPECT_EQ(world_.state.history.kept_step.number, 5) << "no checkpoint is of a later step";
  steps(9, 12);
  EXPECT_TRUE(world_.every<RecordStep>()[9].replayed);    // 9
  EXPECT_FALSE(world_.every<RecordStep>()[10].replayed);  // 10
}

TEST_F(FromMemory, TheSameStateAgainIsNoProgress) {
  world_.run_to_training();
  steps(1, 9);
  world_.feed(ended_by(11), 10);
  EXPECT_EQ(world_.state.history.attempts_without_progress, 0);
  for (int i = 1; i <= 2; ++i) {
    if (world_.state.stage == Stage::backoff) world_.feed(TimerFired{}, 600'000);
    launch_from(0, 8);
    world_.feed(ended_by(11), 10);
    EXPECT_EQ(world_.state.history.attempts_without_progress, i);
  }
}

TEST_F(FromMemory, AnEarlierStepThanTheCheckpointsIsNoNews) {
  world_.run_to_training();
  steps(1, 9);
  world_.feed(ended_by(9), 10);
  launch_from(8, 8);
  EXPECT_THAT(world_.every<RecordResumed>(), IsEmpty());
}

TEST_F(FromMemory, AStepThatNobodyReachedIsNotBelieved) {
  world_.run_to_training();
  steps(1, 9);
  world_.feed(ended_by(9), 10);
  launch_from(5, 11);
  EXPECT_THAT(world_.every<RecordResumed>(), IsEmpty());
  EXPECT_EQ(world_.state.current.resume_step.number, 5);
  world_.feed(Resumed{10, true});  // the word of step 10 was lost
  EXPECT_THAT(world_.every<RecordResumed>(), SizeIs(1));
}

TEST_F(FromMemory, WhatMayHaveSpoiledItIsNotGoneOnFrom) {
  EXPECT_TRUE(facts(Cause::nan).spoils_state);
  EXPECT_TRUE(facts(Cause::corruption).spoils_state);
  EXPECT_TRUE(facts(Cause::host_oom).spoils_state);
  EXPECT_FALSE(facts(Cause::killed).spoils_state);
  EXPECT_FALSE(facts(Cause::hang).spoils_state);
  world_.run_to_training();
  steps(1, 9);
  world_.feed(ended_by(9), 10);
  world_.feed(CheckpointSelected{"/c/step", 5, ""});
  ASSERT_THAT(world_.newest<Launch>(), SizeIs(1));
  EXPECT_FALSE(world_.newest<Launch>()[0].disk_only);
  world_.feed(WorkerStarted{42}, 5);
  world_.feed(Resumed{8, true}, 5);
  WorkerExited exit = exited_with(1);
  exit.matches.push_back({"nan", Cause::nan, 60, "step 9: loss = nan", ""});
  world_.feed(exit, 10);
  world_.feed(TimerFired{}, 600'000);
  world_.feed(CheckpointSelected{"/c/step", 5, ""});
  ASSERT_THAT(world_.newest<Launch>(), SizeIs(1));
  EXPECT_TRUE(world_.newest<Launch>()[0].disk_only);
  world_.feed(WorkerStarted{42}, 5);
  world_.feed(ended_by(9), 10);
  world_.feed(TimerFired{}, 600'000);
  world_.feed(CheckpointSelected{"/c/step", 5, ""});
  ASSERT_THAT(world_.newest<Launch>(), SizeIs(1));
  EXPECT_FALSE(world_.newest<Launch>()[0].disk_only) << "that end says nothing against it";
}

TEST_F(FromMemory, AStartFromScratchTakesNothing) {
  world_.run_to_training();
  steps(1, 9);
  world_.feed(StopRequested{});
  world_.feed(exited_with(75), 10);
  world_.feed(StartRequested{true, "", true});
  world_.feed(CheckpointSelected{});
  ASSERT_THAT(world_.newest<Launch>(), SizeIs(1));
  EXPECT_TRUE(world_.newest<Launch>()[0].disk_only);
  EXPECT_EQ(world_.state.history.highest_in_memory.number, 0);
}

}  // namespace
}  // namespace trainward::core

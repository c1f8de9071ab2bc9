// What a daemon that died, a clock that jumped or a record that came late must not change. Each of
// these was found by the simulation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/decide/core/turn/deadlines.hpp"
#include "world.hpp"

namespace trainward::core {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Recovery, WhatNobodyWillAnswerIsAskedAgain) {
  World world;
  world.policy.needs_board = true;
  world.feed(StartRequested{}).feed(DaemonStarted{}, 1'000);
  EXPECT_THAT(world.newest<Probe>(), SizeIs(1));
  world.feed(ProbeFinished{{{"A", "OK", true, ""}}, ""});
  ASSERT_EQ(world.state.stage, Stage::selecting);
  world.feed(DaemonStarted{}, 1'000);
  EXPECT_THAT(world.newest<Probe>(), SizeIs(1)) << "the board may have changed meanwhile";
  world.feed(ProbeFinished{{{"A", "OK", true, ""}}, ""}).feed(DaemonStarted{false, false});
  EXPECT_THAT(world.last, IsEmpty()) << "the answer is on its way";
}

TEST(Recovery, AfterAShutdownTheNextDaemonGoesOnWithTheSameBudget) {
  World world;
  world.run_to_training().feed(ended_by(11)).feed(TimerFired{}, 10'000);
  const int before = world.state.history.charged_attempts;
  ASSERT_GT(before, 0);
  world.feed(StopRequested{"shutdown", true}).feed(DaemonStarted{}, 5'000);
  EXPECT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1));
  EXPECT_EQ(world.state.history.charged_attempts, before);
}

TEST(Recovery, ADaemonThatDiedInAShutdownStartsTheWorkerAgain) {
  World world;
  world.run_to_training().feed(StopRequested{"shutdown", true});
  world.feed(DaemonStarted{}, 1'000).feed(Adopted{}).feed(exited_with(75), 1'000);
  EXPECT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1));
}

// Found with a worker that the kernel held for longer than its daemon was there.
TEST(Recovery, ADaemonThatComesBackIsNoStartByHand) {
  World world;
  world.run_to_training();
  world.state.history.attempts_without_progress = 5;
  world.feed(StopRequested{"shutdown", true}).feed(DaemonStarted{}, 1'000).feed(Adopted{});
  world.feed(exited_with(75), 1'000);
  EXPECT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1));
  EXPECT_EQ(world.state.history.attempts_without_progress, 5);
}

TEST(Recovery, AnExitFromBeforeTheKillIsJudgedByItself) {
  World world;
  world.policy.deadlines.train_floor_ms = 1'000;
  world.run_to_training().steps(1, 10, 50).feed(TimerFired{}, 1'000);
  ASSERT_EQ(world.state.stage, Stage::killing);
  world.feed(ended_by(11), -5);  // written just before, read just after
  EXPECT_EQ(world.newest<RecordAttemptEnded>().at(0).cause, Cause::crash);
}

// Longer than a step may take; its own deadline, its own phase of the ledger, no longer steps
// after.
TEST(Recovery, AnEvaluationIsAPhaseOfItsOwn) {
  World world;
  world.policy.deadlines.train_floor_ms = 1'000;
  world.policy.deadlines.evaluate_ms = 60'000;
  world.run_to_training().steps(1, 10, 50).feed(PhaseEntered{"evaluate"});
  world.feed(TimerFired{}, 50'000);
  EXPECT_EQ(world.state.stage, Stage::evaluating);
  world.feed(Evaluated{10, 2.25}).feed(PhaseEntered{"train"}).steps(11, 12, 50);
  ASSERT_EQ(world.state.stage, Stage::training);
  bool booked = false;
  for (const RecordSpan& span : world.every<RecordSpan>()) {
    booked = booked || (span.phase == Phase::evaluating && span.duration_ms >= 50'000);
  }
  EXPECT_TRUE(booked);
  bool told = false;
  for (const RecordEvent& event : world.every<RecordEvent>()) {
    told = told ||
           (event.kind == "evaluation" && event.text == "step 10: loss 2.2500 of held-out data");
  }
  EXPECT_TRUE(told);
  ASSERT_EQ(world.every<RecordEvaluation>().size(), 1U);
  EXPECT_EQ(world.every<RecordEvaluation>()[0].step, Step{10});
  EXPECT_EQ(world.every<RecordEvaluation>()[0].loss, 2.25);
  world.feed(TimerFired{}, 1'500);
  EXPECT_EQ(world.state.stage, Stage::killing) << "the steps after it are watched as before";
  World silent;
  silent.policy.deadlines.evaluate_ms = 60'000;
  silent.run_to_training().steps(1, 10, 50).feed(PhaseEntered{"evaluate"}).feed(Alive{}, 50'000);
  silent.feed(TimerFired{}, 50'000);
  EXPECT_EQ(silent.state.stage, Stage::evaluating);
  silent.feed(TimerFired{}, 11'000);
  EXPECT_EQ(silent.state.stage, Stage::killing);
}

// There is no attempt that it could belong to.
TEST(Recovery, AnEvaluationWithoutAWorkerIsNotRecorded) {
  World world;
  world.feed(Evaluated{10, 2.25});
  EXPECT_THAT(world.every<RecordEvaluation>(), IsEmpty());
  EXPECT_THAT(world.every<RecordEvent>(), IsEmpty());
}

// Of a run that is as long as its data: only the worker knows, and each attempt says it again.
TEST(Recovery, TheLastStepIsWhatTheWorkerTells) {
  World world;
  world.policy.target_step = {300};
  EXPECT_EQ(target_of(world.state, world.policy.target_step), Step{300});
  world.feed(TargetTold{{40}});
  EXPECT_EQ(target_of(world.state, world.policy.target_step), Step{300}) << "no worker to tell it";
  world.run_to_training().feed(TargetTold{{160}}).steps(1, 2);
  EXPECT_EQ(target_of(world.state, world.policy.target_step), Step{160});
  const auto stored = state_from_json(to_json(world.state));
  ASSERT_TRUE(stored);
  EXPECT_EQ(target_of(*stored, {}), Step{160});
  world.feed(ended_by(11)).feed(TimerFired{}, 120'000);
  world.run_to_training();
  EXPECT_EQ(target_of(world.state, world.policy.target_step), Step{300})
      << "the next one has yet to";
}

TEST(Recovery, ALateRecordBooksNoSecondTwice) {
  World world;
  world.run_to_training().steps(1, 3, 100);
  world.feed(PhaseEntered{"save"}, 100).feed(PhaseEntered{"train"}, -50);
  world.feed(StopRequested{"operator", false}, 200).feed(exited_with(75), 100);
  WallTime end;
  for (const RecordSpan& span : world.every<RecordSpan>()) {
    EXPECT_GE(span.begin_wall_ms, end) << to_string(span.phase);
    end = span.begin_wall_ms + span.duration_ms;
  }
}

TEST(Recovery, AWallClockThatIsSetBackHidesNoTime) {
  World world;
  world.run_to_training().steps(1, 2).feed(ended_by(11));
  ASSERT_EQ(world.state.stage, Stage::backoff);
  world.time.wall -= 7'200'000;
  world.feed(Alive{}, 100).feed(DaemonStarted{}, 5'000);
  ASSERT_THAT(world.newest<RecordSpan>(), SizeIs(2));
  EXPECT_EQ(world.newest<RecordSpan>()[1].phase, Phase::down);
  EXPECT_EQ(world.newest<RecordSpan>()[1].duration_ms, 5'000);
}

TEST(Watching, WhatWasNoticedIsAnEventAndNothingElse) {
  World world;
  world.run_to_training();
  const State before = world.state;
  world.feed(Noticed{"watch", "recognised the output of nanoGPT"});
  EXPECT_EQ(world.state, before);
  ASSERT_EQ(world.newest<RecordEvent>().size(), 1U);
  EXPECT_EQ(world.newest<RecordEvent>()[0].kind, "watch");
  EXPECT_EQ(world.newest<RecordEvent>()[0].text, "recognised the output of nanoGPT");
}

TEST(Deadline, TheFirstStepHasTheTimeOfLoading) {
  World world;
  world.run_to_training();
  world.feed(TimerFired{}, 2 * world.policy.deadlines.train_floor_ms);
  EXPECT_THAT(world.newest<SendSignal>(), IsEmpty());
}

TEST(Deadline, ThatNobodyWasAwakeForBeginsAnew) {
  World world;
  world.run_to_training().steps(1, 10).feed(TimerFired{}, 3'600'000);
  EXPECT_THAT(world.newest<SendSignal>(), IsEmpty());
  world.feed(TimerFired{}, world.policy.deadlines.train_floor_ms);
  EXPECT_THAT(world.newest<SendSignal>(), SizeIs(1));
}

TEST(Deadline, LearnsFromTheNearlyLongestStep) {
  State state;
  state.stage = Stage::training;
  state.current.first_step = {1};
  Policy policy;
  policy.deadlines.train_floor_ms = 1;
  for (int i = 1; i <= 128; ++i) learn_step_time(state, Policy{}, i);
  EXPECT_EQ(allowed_ms(state, policy), 10 * 127);
  EXPECT_EQ(usual_step_ms(state), 64);
}

TEST(Deadline, APlannedRestartWaitsForTheStepUnderWay) {
  State state;
  state.stage = Stage::stopping;
  const Policy policy;
  learn_step_time(state, Policy{}, 90'000);
  state.current.kill = Kill{Cause::planned_restart, ""};
  EXPECT_EQ(allowed_ms(state, policy), 180'000);
  state.current.kill = Kill{Cause::stopped, ""};
  EXPECT_EQ(allowed_ms(state, policy), policy.deadlines.stop_ms) << "the operator has set it";
}

TEST(SilentProgram, ItsCpuCountsWhileCheckpointsKeepComing) {
  World world;
  world.policy.speaks = false;
  world.policy.watch_cpu = true;
  world.feed(StartRequested{}).feed(CheckpointSelected{}).feed(WorkerStarted{1});
  std::int64_t cpu = 0;
  std::int64_t until_kill_min = 0;
  for (std::int64_t minute = 1; minute < 30 * 24 * 60 && until_kill_min == 0; ++minute) {
    world.feed(TimerFired{}, 60'000);
    if (!world.newest<SendSignal>().empty()) until_kill_min = minute;
    world.feed(ActivitySeen{cpu += 30'000, 0});
    if (minute % 60 == 0 && minute <= 7 * 24 * 60) {
      world.feed(CheckpointReported{"/c", minute});
    }
  }
  EXPECT_GT(until_kill_min, 7 * 24 * 60);
  EXPECT_LT(until_kill_min, 8 * 24 * 60) << "burning a CPU without checkpoints is a hang";
}

TEST(SilentProgram, ACheckpointBelowTheOneItWasGivenIsABreach) {
  World world;
  world.run_to_training(100).feed(CheckpointReported{"/c/5", 5});
  ASSERT_THAT(world.newest<SendSignal>(), SizeIs(1));
  EXPECT_EQ(world.state.current.kill->cause, Cause::resume_contract);
}

TEST(Recovery, TheEarlyLossOfReplayedStepsIsNoSpike) {
  World world;
  world.run_to_training();
  for (std::int64_t step = 1; step <= 200; ++step) {
    world.feed(StepDone{step, step < 100 ? 5.0 : 0.4, 1, {}, step, 1}, 10);
  }
  // All its checkpoints but the first were lost with it.
  world.feed(WorkerExited{}).feed(TimerFired{}, world.policy.backoff.max_ms);
  world.attempt_to_training(10);
  for (std::int64_t step = 11; step <= 200; ++step) {
    world.feed(StepDone{step, step < 100 ? 5.0 : 0.4, 1, {}, step, 1}, 10);
    ASSERT_FALSE(world.state.current.kill.has_value())
        << step << ": " << world.state.current.kill->why;
  }
  for (std::int64_t step = 201; step <= 210 && !world.state.current.kill; ++step) {
    world.feed(StepDone{step, 5.0, 1, {}, step, 1}, 10);
  }
  ASSERT_TRUE(world.state.current.kill.has_value());
  EXPECT_EQ(world.state.current.kill->cause, Cause::loss_spike);
}

TEST(Recovery, CheckpointsThatCannotBeReadNowAreReadLater) {
  World world;
  world.feed(StartRequested{}).feed(CheckpointSelected{"", 0, "input/output error"});
  EXPECT_EQ(display(world.state.stage), "BACKOFF");
  EXPECT_THAT(world.newest<Launch>(), IsEmpty());
  world.feed(TimerFired{}, world.policy.backoff.max_ms);
  EXPECT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1));
  world.feed(CheckpointSelected{"/c/20", 20, ""});
  EXPECT_EQ(world.newest<Launch>().at(0).attempt, 1);
}

// A share that is away is nobody's fault: it costs neither an attempt nor a budget, and is told
// once.
TEST(Recovery, WhatVerifiedAndIsNotThereIsWaitedFor) {
  World world;
  world.run_to_training().steps(1, 20);
  world.feed(CheckpointVerified{1, "/nas/20", 20, 1, "", "7:70"}).feed(exited_with(1));
  EXPECT_EQ(world.state.history.kept_path, "/nas/20");
  EXPECT_EQ(world.state.history.kept_in, "7:70");
  for (int look = 0; look < 50; ++look) {
    world.feed(CheckpointSelected{"", 0, "step 20 is not there", true});
    ASSERT_EQ(world.state.stage, Stage::backoff) << look;
    EXPECT_THAT(world.newest<Launch>(), IsEmpty());
    world.feed(TimerFired{}, world.policy.backoff.max_ms);
  }
  EXPECT_EQ(world.state.history.kept_step.number, 20);
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
  int told = 0;
  for (const RecordEvent& event : world.every<RecordEvent>()) told += event.kind == "waiting";
  EXPECT_EQ(told, 1);
  world.feed(CheckpointSelected{"/nas/20", 20, "", false, "8:70"});
  EXPECT_EQ(world.newest<Launch>().at(0).attempt, 2);
  EXPECT_EQ(world.state.history.kept_in, "8:70");
}

TEST(Recovery, FromScratchIsSaidOnceAndLeavesAllBehind) {
  for (const bool selecting : {false, true}) {
    World world;
    world.run_to_training().steps(1, 20);
    world.feed(CheckpointVerified{1, "/c/20", 20, 1, "", "7:70"}).feed(exited_with(1));
    if (!selecting) world.feed(CheckpointSelected{"", 0, "step 20 is not there", true});
    world.feed(StartRequested{.by = "uid 7", .from_scratch = true}, 5);
    ASSERT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1));
    EXPECT_EQ(world.newest<SelectCheckpoint>().at(0).below.number, 1);
    EXPECT_EQ(world.newest<SelectCheckpoint>().at(0).since, world.time.wall);
    const WallTime since = world.time.wall;
    world.attempt_to_training(0).steps(1, 5);
    EXPECT_TRUE(world.state.current.from_scratch);
    EXPECT_EQ(world.state.history.kept_path, "");
    EXPECT_EQ(world.state.history.kept_step.number, 0);
    world.feed(exited_with(1)).feed(TimerFired{}, world.policy.backoff.max_ms);
    ASSERT_EQ(world.state.stage, Stage::selecting);
    const auto selects = world.every<SelectCheckpoint>();
    EXPECT_EQ(selects.back().below.number, 0) << "said once";
    EXPECT_EQ(selects.back().since, since) << "what was there before is not gone on from";
  }
}

TEST(Budget, AStoppedAttemptThatKeptSomethingClearsIt) {
  World world;
  world.run_to_training().feed(ended_by(11)).feed(TimerFired{}, 10'000).attempt_to_training(0);
  world.steps(1, 3).feed(StopRequested{"operator", false});
  world.feed(CheckpointVerified{2, "/c/3", 3, 1, ""}).feed(exited_with(75));
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
}

TEST(Leak, RecycledTooLateToSaveIsRemembered) {
  World world;
  world.run_to_training().steps(1, 9);
  world.state.current.kill = Kill{Cause::memory_leak, "grown"};
  world.state.stage = Stage::stopping;
  world.feed(ended_by(9));
  ASSERT_THAT(world.state.history.faults, SizeIs(1));
  EXPECT_EQ(world.state.history.faults[0].survived, 9);
}

TEST(Remedy, AnAttemptThatKeptSomethingIsNotInVain) {
  World world;  // no board, no reset command, nothing to shrink
  world.run_to_training().steps(1, 5).feed(ended_by(11)).feed(TimerFired{}, 600'000);
  world.attempt_to_training(0).steps(1, 3).feed(CheckpointVerified{2, "/c/3", 3, 1, ""});
  world.steps(4, 5).feed(ended_by(11));
  EXPECT_EQ(world.newest<RecordAttemptEnded>().at(0).remedy, Remedy::retry)
      << "same class, same step";
}

// Three attempts that end after about four steps; the next one trains.
void fill_memory_like_clockwork(World& world) {
  world.run_to_training();
  WorkerExited full = exited_with(1);
  full.matches = {{"r", Cause::device_oom, 60, "Out of Memory", ""}};
  for (const std::int64_t survived : {4, 5, 4}) {
    world.steps(1, survived).feed(full).feed(TimerFired{}, 600'000).attempt_to_training(0);
  }
}

TEST(PlannedRestart, ThatKeptNothingIsNotRepeated) {
  World world;
  fill_memory_like_clockwork(world);
  world.steps(1, 4);
  ASSERT_EQ(world.state.stage, Stage::stopping) << "the fourth time it is met before it comes";
  world.feed(exited_with(1)).attempt_to_training(0).steps(1, 4);
  EXPECT_EQ(world.state.stage, Stage::training);
}

// With the worker in its last step there is nothing left to be saved by a restart.
TEST(PlannedRestart, NotInTheLastStep) {
  for (const auto& [target, expected] :
       {std::pair{4, Stage::training}, {5, Stage::stopping}, {0, Stage::stopping}}) {
    SCOPED_TRACE(target);
    World world;
    world.policy.target_step = {target};
    fill_memory_like_clockwork(world);
    world.steps(1, 3);
    EXPECT_EQ(world.state.stage, expected);
  }
}

TEST(NoBoard, EveryBrokenBoardGetsItsReset) {
  World world;
  world.policy.needs_board = true;
  world.policy.can_reset = true;
  const ProbeFinished probe{{{"A", "LOST", false, ""}, {"B", "LOST", false, ""}}, ""};
  world.feed(StartRequested{});
  std::set<std::string> reset;
  for (int i = 0; i < 8; ++i) {
    world.feed(probe, 100);
    for (const Repair& order : world.newest<Repair>()) reset.insert(order.serial);
    if (world.state.stage == Stage::repairing) world.feed(Repaired{Remedy::reset_board}, 100);
    if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 600'000);
  }
  EXPECT_EQ(reset, (std::set<std::string>{"A", "B"}));
}

}  // namespace
}  // namespace trainward::core

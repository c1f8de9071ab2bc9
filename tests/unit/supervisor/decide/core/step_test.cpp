#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "world.hpp"

namespace trainward::core {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Step, IntentIsRecordedInTheSameTurnAsTheLaunch) {
  World world;
  world.feed(StartRequested{}).feed(CheckpointSelected{});
  EXPECT_THAT(world.newest<RecordAttemptBegun>(), SizeIs(1));
  EXPECT_THAT(world.newest<Launch>(), SizeIs(1));
  EXPECT_EQ(world.state.stage, Stage::launching);
}

TEST(Step, ABoardThatIsNotUsableIsRefusedOnceWithItsReason) {
  World world;
  world.policy.needs_board = true;
  const ProbeFinished probe{
      {{"A", "REMOTE_LOST", false, "links 8 and 9 are down"}, {"B", "OK", true, ""}}, ""};
  world.feed(StartRequested{}).feed(probe);
  EXPECT_EQ(world.state.boards.board, "B");
  ASSERT_THAT(world.newest<RecordEvent>(), SizeIs(2));
  EXPECT_THAT(world.newest<RecordEvent>()[0].text, HasSubstr("links 8 and 9 are down"));

  world.attempt_to_training(0).feed(exited_with(1)).feed(TimerFired{}, 10'000).feed(probe);
  EXPECT_THAT(world.newest<RecordEvent>(), IsEmpty()) << "the verdict has not changed";
}

TEST(Step, ABoardThatAnotherProgramWorksOnIsWaitedForAndNeverReset) {
  World world;
  world.policy.needs_board = true;
  world.policy.can_reset = true;
  BoardFound busy{"A", "IN_USE", false, "another program works on it"};
  busy.in_use = true;
  world.feed(StartRequested{});
  for (int look = 0; look < 20; ++look) {
    world.feed(ProbeFinished{{busy}, ""});
    EXPECT_EQ(display(world.state.stage), "BACKOFF");
    EXPECT_THAT(world.state.reason, HasSubstr("another program works on it"));
    world.feed(TimerFired{}, 3'600'000);
  }
  EXPECT_THAT(world.every<Repair>(), IsEmpty());
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
  world.feed(ProbeFinished{{{"A", "OK", true, ""}}, ""});
  EXPECT_EQ(world.state.boards.board, "A");
}

TEST(Step, WithoutAUsableBoardItWaitsAndLooksAgain) {
  World world;
  world.policy.needs_board = true;
  world.feed(StartRequested{}).feed(ProbeFinished{{{"A", "REMOTE_LOST", false, "link down"}}, ""});
  EXPECT_EQ(display(world.state.stage), "BACKOFF");
  EXPECT_THAT(world.state.reason, HasSubstr("link down"));
  EXPECT_THAT(world.newest<Launch>(), IsEmpty());
  world.feed(TimerFired{}, world.policy.backoff.max_ms);
  EXPECT_THAT(world.newest<Probe>(), SizeIs(1));
}

TEST(Step, OutOfMemoryAfterProgressIsFollowedByTheNextAttemptAtOnce) {
  World world;
  world.run_to_training().steps(1, 25);
  world.feed(CheckpointVerified{1, "/c/step-20", 20, 100, ""});
  WorkerExited exit = exited_with(1);
  exit.matches = {{"tt-dram-full", Cause::device_oom, 60, "Out of Memory", "stderr.log:3"}};
  world.feed(exit);
  ASSERT_THAT(world.newest<RecordAttemptEnded>(), SizeIs(1));
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::device_oom);
  EXPECT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1)) << "no back-off after progress";
  EXPECT_EQ(world.state.attempt, 2);
}

TEST(Step, StepsDoneBeforeAreReplays) {
  World world;
  world.run_to_training().steps(1, 25);
  world.feed(CheckpointVerified{1, "/c/step-20", 20, 100, ""}).feed(exited_with(1));
  world.attempt_to_training(20).steps(21, 27);
  std::vector<bool> replayed;
  for (const RecordStep& s : world.every<RecordStep>()) {
    if (s.step > Step{20}) replayed.push_back(s.replayed);
  }
  EXPECT_EQ(replayed, (std::vector<bool>{false, false, false, false, false,  // 21–25 the first time
                                         true, true, true, true, true, false, false}));
}

TEST(Step, SilenceBeyondTheLearnedDeadlineIsAHang) {
  World world;
  world.policy.deadlines.train_floor_ms = 1'000;
  world.run_to_training().steps(1, 30, 200);
  world.feed(TimerFired{}, 1'999);
  EXPECT_THAT(world.newest<SendSignal>(), IsEmpty()) << "allowed: 10 × 200 ms";
  world.feed(TimerFired{}, 1);
  ASSERT_THAT(world.newest<SendSignal>(), SizeIs(1));
  EXPECT_EQ(world.newest<SendSignal>()[0].signal, Signal::kill);
  world.feed(ended_by(9), 3);
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::hang);
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].evidence.front().source, "supervisor");
}

TEST(Step, TheSilenceOfAHangIsBookedAsLostToIt) {
  World world;
  world.policy.deadlines.train_floor_ms = 1'000;
  world.run_to_training().steps(1, 10, 50).feed(TimerFired{}, 1'000).feed(ended_by(9), 5);
  std::int64_t lost = 0;
  world.feed(StopRequested{"operator", false});
  for (const RecordSpan& span : world.every<RecordSpan>()) {
    if (span.phase == Phase::down && span.cause == Cause::hang) lost += span.duration_ms;
  }
  EXPECT_EQ(lost, 1'005);
}

TEST(Step, CompilingForAnHourIsNotAHang) {
  World world;
  world.feed(StartRequested{}).feed(CheckpointSelected{}).feed(WorkerStarted{1});
  world.feed(PhaseEntered{"compile"});
  world.feed(TimerFired{}, 80 * 60'000);
  EXPECT_THAT(world.newest<SendSignal>(), IsEmpty());
}

TEST(Step, StartingBelowTheCheckpointItWasGivenIsAFault) {
  World world;
  world.run_to_training(100);
  world.feed(StepDone{1, 5.0, 1, {}, 10, 1});
  ASSERT_THAT(world.newest<SendSignal>(), SizeIs(1));
  world.feed(ended_by(9));
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::resume_contract);
}

TEST(Step, ExitZeroIsTheEnd) {
  World world;
  world.run_to_training().steps(1, 3).feed(exited_with(0));
  EXPECT_EQ(display(world.state.stage), "EXITED");
  EXPECT_FALSE(world.state.wanted);
  EXPECT_FALSE(world.state.span.has_value()) << "the ledger is closed";
}

TEST(Step, AConfigurationErrorIsNotRetried) {
  World world;
  world.feed(StartRequested{}).feed(CheckpointSelected{}).feed(WorkerStarted{1});
  world.feed(exited_with(78));
  EXPECT_EQ(display(world.state.stage), "FATAL");
}

TEST(Step, ThatEverythingWasTriedIsSaidOnlyWhenSomethingWas) {
  const auto no_number = [](std::int64_t step) {
    return StepDone{step, std::numeric_limits<double>::infinity(), 1.0, {}, step * 10, 100};
  };
  World first;
  first.run_to_training().feed(no_number(1)).feed(ended_by(9));
  EXPECT_EQ(display(first.state.stage), "FATAL");
  EXPECT_THAT(first.state.reason, HasSubstr("nothing that can be done here would help"));

  World later;
  later.run_to_training(100).feed(no_number(101)).feed(ended_by(9));
  for (int i = 0; i < 10 && display(later.state.stage) != "FATAL"; ++i) {
    later.feed(TimerFired{}, 3'600'000).attempt_to_training(100);
    later.feed(no_number(101)).feed(ended_by(9));
  }
  EXPECT_EQ(display(later.state.stage), "FATAL");
  EXPECT_THAT(later.state.reason, HasSubstr("attempts all ended in nan"));
}

TEST(Step, AttemptsWithoutProgressEndInFatalWithAReason) {
  World world;
  world.policy.budgets.attempts_without_progress = 3;
  world.feed(StartRequested{});
  for (int i = 0; i < 3; ++i) {
    world.feed(CheckpointSelected{}).feed(WorkerStarted{1}).feed(ended_by(11));
    if (i < 2) {
      EXPECT_EQ(display(world.state.stage), "BACKOFF");
      world.feed(TimerFired{}, world.policy.backoff.max_ms);
    }
  }
  EXPECT_EQ(display(world.state.stage), "FATAL");
  EXPECT_THAT(world.state.reason, HasSubstr("3 attempts in a row without a new verified step"));
}

TEST(Step, StopLetsTheWorkerSaveThenKills) {
  World world;
  world.run_to_training().steps(1, 3).feed(StopRequested{"operator", false});
  ASSERT_THAT(world.newest<SendSignal>(), SizeIs(1));
  EXPECT_EQ(world.newest<SendSignal>()[0].signal, Signal::terminate);
  world.feed(TimerFired{}, world.policy.deadlines.stop_ms);
  EXPECT_EQ(world.newest<SendSignal>()[0].signal, Signal::kill);
  world.feed(ended_by(9));
  EXPECT_EQ(display(world.state.stage), "STOPPED");
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::stopped);
}

TEST(Step, AStopAtOnceDoesNotWaitForASave) {
  World world;
  world.run_to_training().steps(1, 3).feed(StopRequested{"shutdown", true});
  world.feed(StopRequested{"shutdown", true});
  EXPECT_THAT(world.newest<SendSignal>(), SizeIs(0)) << "asked again is asked once";
  world.feed(StopRequested{"shutdown", true, true});
  ASSERT_THAT(world.newest<SendSignal>(), SizeIs(1));
  EXPECT_EQ(world.newest<SendSignal>()[0].signal, Signal::kill);
  world.feed(ended_by(9));
  EXPECT_EQ(display(world.state.stage), "STOPPED");
  EXPECT_TRUE(world.state.wanted);
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::stopped);
}

TEST(Step, AnAttemptThatIsStoppedBeforeItsLaunchTakesNoNumber) {
  World world;
  world.policy.needs_board = true;
  world.feed(StartRequested{});
  ASSERT_EQ(world.state.stage, Stage::probing);
  world.feed(StopRequested{"operator"});
  EXPECT_EQ(world.state.attempt, 0);
  world.feed(StartRequested{}).feed(ProbeFinished{{{"A", "OK", true, ""}}, ""});
  ASSERT_EQ(world.state.stage, Stage::selecting);
  world.feed(StopRequested{"operator"});
  EXPECT_EQ(world.state.attempt, 0);
  world.feed(StartRequested{}).feed(ProbeFinished{{{"A", "OK", true, ""}}, ""});
  world.feed(CheckpointSelected{"", 0, ""}).feed(WorkerStarted{42}, 5);
  EXPECT_EQ(world.state.attempt, 1);
  world.feed(StopRequested{"operator"});
  EXPECT_EQ(world.state.attempt, 1);
}

TEST(Step, ShutdownKeepsTheIntent) {
  World world;
  world.run_to_training().feed(StopRequested{"shutdown", true}).feed(exited_with(75));
  EXPECT_EQ(display(world.state.stage), "STOPPED");
  EXPECT_TRUE(world.state.wanted);
}

TEST(Step, RestartStopsThenStarts) {
  World world;
  world.run_to_training().feed(RestartRequested{});
  EXPECT_EQ(world.newest<SendSignal>()[0].signal, Signal::terminate);
  world.feed(exited_with(75));
  EXPECT_THAT(world.newest<SelectCheckpoint>(), SizeIs(1));
  EXPECT_EQ(world.state.attempt, 2);
}

TEST(Step, WorkDoneWhileStoppingStillCounts) {
  World world;
  world.run_to_training().steps(1, 3).feed(StopRequested{"operator", false});
  world.feed(StepDone{4, 1, 1, {}, 40, 1}).feed(CheckpointReported{"/c/step-4", 4});
  EXPECT_EQ(world.state.current.last_step, Step{4});
  EXPECT_THAT(world.newest<VerifyCheckpoint>(), SizeIs(1));
}

TEST(Step, ALateHeartbeatOfADeadWorkerChangesNothing) {
  World world;
  world.run_to_training().steps(1, 3).feed(exited_with(0));
  const State before = world.state;
  world.feed(StepDone{4, 1, 1, {}, 40, 1}).feed(exited_with(1)).feed(WorkerStarted{7});
  EXPECT_EQ(world.state, before);
  EXPECT_THAT(world.last, IsEmpty());
}

TEST(Step, ADamagedCheckpointIsRecorded) {
  World world;
  world.feed(StartRequested{})
      .feed(CheckpointRejected{"/c/step-20", 20, "/c/.corrupt-step-20", "block 1 differs"});
  ASSERT_THAT(world.newest<RecordCheckpoint>(), SizeIs(1));
  EXPECT_EQ(world.newest<RecordCheckpoint>()[0].error,
            "block 1 differs; set aside as /c/.corrupt-step-20");
}

TEST(Step, ACheckpointThatWasLeftWhereItLiesIsNotCalledSetAside) {
  World world;
  world.feed(StartRequested{}).feed(CheckpointRejected{"/c/step-20", 20, "/c/step-20", "denied"});
  ASSERT_THAT(world.newest<RecordCheckpoint>(), SizeIs(1));
  EXPECT_EQ(world.newest<RecordCheckpoint>()[0].error, "denied");
  EXPECT_EQ(world.newest<RecordEvent>()[0].text, "step 20 is passed over: denied");
}

TEST(Step, WhatTheMachineSaidLongAgoIsNotWhyItEnds) {
  const HostFact pressure{"memory pressure", 30, Cause::host_oom, "little memory was left"};
  World world;
  world.run_to_training().feed(pressure, 10).feed(StepDone{1, 1.0}, 700'000);
  world.feed(exited_with(1), 10);
  EXPECT_EQ(world.newest<RecordAttemptEnded>().at(0).cause, Cause::unknown);

  World soon;
  soon.run_to_training().feed(pressure, 10).feed(StepDone{1, 1.0}, 10).feed(exited_with(1), 10);
  EXPECT_EQ(soon.newest<RecordAttemptEnded>().at(0).cause, Cause::host_oom);

  World stuck;
  stuck.run_to_training().feed(pressure, 10).feed(ActivitySeen{}, 700'000).feed(exited_with(1), 10);
  EXPECT_EQ(stuck.newest<RecordAttemptEnded>().at(0).cause, Cause::host_oom)
      << "nothing went on since";
}

TEST(Step, AStormOfKernelLinesDoesNotHideTheHeavyOne) {
  World world;
  world.run_to_training();
  for (int i = 0; i < 100; ++i) world.feed(HostFact{"kernel log", 30, Cause::unknown, "noise"}, 1);
  EXPECT_THAT(world.state.current.facts, SizeIs(8));
  world.feed(HostFact{"kernel log", 80, Cause::device_lost, "the card fell off the bus"}, 1);
  EXPECT_THAT(world.state.current.facts, SizeIs(8));
  world.feed(exited_with(1), 10);
  EXPECT_EQ(world.newest<RecordAttemptEnded>().at(0).cause, Cause::device_lost);
}

}  // namespace
}  // namespace trainward::core

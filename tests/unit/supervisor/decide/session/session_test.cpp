// The order of a program's life: events, core, commit, side effects.
#include "fakes.hpp"

namespace trainward::session {
namespace {

using core::Stage;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Session, IntentIsCommittedBeforeItsSideEffect) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  EXPECT_THAT(world.asked, ElementsAre("commit", "select", "commit", "launch 1", "commit"));
  EXPECT_EQ(world.state.stage, Stage::training);
}

TEST(Session, ABurstIsOneTurn) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  const int before = world.times("commit");
  for (std::int64_t step = 2; step <= 100; ++step)
    world.say(core::StepDone{step, 2.0, 1, {}, 1, 1});
  daemon.hear();
  EXPECT_EQ(world.times("commit"), before + 1);
  EXPECT_EQ(world.state.current.last_step.number, 100);
  EXPECT_EQ(world.place.attempt, 1);
  EXPECT_EQ(world.place.offset, static_cast<std::int64_t>(world.journal.size()));
}

TEST(Session, ALongJournalIsATurnAPiece) {
  World world;
  world.piece = 10;
  FakeDaemon daemon(world);
  daemon.train();
  const int before = world.times("commit");
  for (std::int64_t step = 2; step <= 101; ++step)
    world.say(core::StepDone{step, 2.0, 1, {}, 1, 1});
  daemon.hear();
  EXPECT_EQ(world.times("commit"), before + 10);
  EXPECT_THAT(world.all<core::RecordStep>(), SizeIs(101)) << "each once";
}

// ---- a database that refuses ----

TEST(Refusal, WhatHappenedIsKeptAndNothingIsDone) {
  World world;
  world.refuses = true;
  FakeDaemon daemon(world);
  daemon.session().begin(true);
  daemon.run();
  for (int i = 0; i < 5; ++i) daemon.pass(1'000);
  EXPECT_THAT(world.asked, IsEmpty());
  EXPECT_TRUE(daemon.turns().refusal().has_value());
  EXPECT_EQ(daemon.session().state().stage, Stage::stopped);
  EXPECT_EQ(daemon.session().newest().stage, Stage::selecting);
  world.refuses = false;
  daemon.pass(1'000);
  EXPECT_THAT(world.asked, ElementsAre("commit", "select"));
  EXPECT_THAT(world.heard<core::StartRequested>(), SizeIs(1));
  EXPECT_FALSE(daemon.turns().refusal().has_value());
}

TEST(Refusal, AStopReachesTheWorkerOnce) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.refuses = true;
  daemon.tell(core::StopRequested{"operator"});
  for (int i = 0; i < 5; ++i) daemon.pass(1'000);
  EXPECT_EQ(world.times("signal terminate"), 1);
  EXPECT_EQ(world.state.stage, Stage::training) << "as committed";
  EXPECT_EQ(daemon.session().newest().stage, Stage::stopping);
  world.refuses = false;
  daemon.pass(1'000);
  EXPECT_EQ(world.times("signal terminate"), 1) << "it was carried out already";
  EXPECT_EQ(world.state.stage, Stage::stopping);
  EXPECT_THAT(world.heard<core::StopRequested>(), SizeIs(1));
}

TEST(Refusal, DeadlinesGoOn) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.refuses = true;
  daemon.tell(core::StopRequested{"operator"});
  daemon.pass(daemon.policy.deadlines.stop_ms + 1);
  daemon.pass(1'000);
  EXPECT_EQ(world.times("signal kill"), 1);
  EXPECT_FALSE(daemon.session().at_rest_unrecorded());
  core::WorkerExited killed;
  killed.signal = 9;
  world.say(killed);
  daemon.session().shim_ended();
  daemon.run();
  EXPECT_TRUE(daemon.session().at_rest_unrecorded()) << "nothing of it is left";
  EXPECT_FALSE(daemon.session().at_rest());
}

TEST(Refusal, WhatItSaidMeanwhileIsCountedOnce) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  const JournalPlace before = world.place;
  world.refuses = true;
  for (std::int64_t step = 2; step <= 20; ++step) {
    world.say(core::StepDone{step, 2.0, 1, {}, 1, 1});
    daemon.hear();
    daemon.pass(500);
  }
  EXPECT_EQ(world.place.offset, before.offset);
  world.refuses = false;
  daemon.pass(1'000);
  EXPECT_THAT(world.all<core::RecordStep>(), SizeIs(20));
  EXPECT_EQ(world.place.offset, static_cast<std::int64_t>(world.journal.size()));
}

TEST(Refusal, ADatabaseThatWillNeverTakeItIsReportedOnceAfterThreeTries) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.refuses = true;
  for (int i = 0; i < 5; ++i) daemon.tell(core::Alive{}), daemon.pass(1'000);
  EXPECT_EQ(world.times("unfit"), 0) << "a full disk has room again some day";
  world.refuses_for_good = true;
  daemon.pass(1'000);
  daemon.pass(1'000);
  EXPECT_EQ(world.times("unfit"), 0);
  daemon.pass(1'000);
  EXPECT_EQ(world.times("unfit"), 1);
  for (int i = 0; i < 5; ++i) daemon.pass(1'000);
  EXPECT_EQ(world.times("unfit"), 1);
}

// ---- the way to a worker ----

TEST(Launch, AStopInTheSameTurnLaunchesNothing) {
  World world;
  FakeDaemon daemon(world);
  daemon.session().begin(true);
  daemon.run();
  daemon.session().handle(core::CheckpointSelected{});
  daemon.tell(core::StopRequested{"operator"});
  EXPECT_EQ(world.times("launch 1"), 0);
  EXPECT_EQ(world.state.stage, Stage::stopped);
  EXPECT_THAT(world.all<core::RecordAttemptEnded>(), SizeIs(1));
}

TEST(Launch, TheOffsetOfTheAttemptBeforeIsNotTheNextOnes) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.say(exited_with(75));
  daemon.session().shim_ended();
  daemon.session().looked_back({});
  daemon.run();
  daemon.tell(core::CheckpointSelected{});
  ASSERT_EQ(world.state.attempt, 2);
  daemon.tell(core::Alive{});  // a turn before the next one has said anything
  EXPECT_TRUE(world.place.attempt == 1 || world.place.offset == 0);
}

TEST(Launch, OneThatFailsIsTriedAgain) {
  World world;
  world.launch_fails = true;
  FakeDaemon daemon(world);
  daemon.session().begin(true);
  daemon.run();
  daemon.tell(core::CheckpointSelected{});
  daemon.run();
  ASSERT_THAT(world.heard<core::LaunchFailed>(), SizeIs(1));
  EXPECT_EQ(world.state.stage, Stage::backoff);
}

// ---- the timer ----

TEST(Deadline, WhatTheJournalHoldsIsHeardBeforeTheVerdict) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.pass(*core::next_timer(world.state) - world.time.mono - 1);
  world.say(core::StepDone{2, 2.0, 1, {}, 1, 1});  // nobody has told of it
  daemon.pass(2);
  EXPECT_EQ(world.times("signal kill"), 0);
  EXPECT_EQ(world.state.current.last_step.number, 2);
}

// ---- the end ----

TEST(Ending, IsToldAfterTheWholeJournal) {
  World world;
  world.piece = 4;
  FakeDaemon daemon(world);
  daemon.train();
  for (std::int64_t step = 2; step <= 30; ++step) world.say(core::StepDone{step, 2.0, 1, {}, 1, 1});
  world.say(exited_with(0));
  daemon.session().shim_ended();  // before any of it was read
  daemon.run();
  EXPECT_EQ(world.times("look back"), 1);
  EXPECT_THAT(world.heard<core::WorkerExited>(), IsEmpty());
  daemon.session().looked_back({});
  daemon.run();
  EXPECT_EQ(world.state.stage, Stage::exited);
  EXPECT_EQ(world.state.current.last_step.number, 30);
  EXPECT_TRUE(std::holds_alternative<core::WorkerExited>(world.recorded.back().event));
}

TEST(Ending, WaitsForTheVerdictOnItsCheckpoints) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.say(core::CheckpointReported{"/c/1", 1});
  world.say(exited_with(75));
  daemon.session().shim_ended();
  daemon.run();
  daemon.session().looked_back({});
  daemon.run();
  EXPECT_EQ(world.times("verify /c/1"), 1);
  EXPECT_THAT(world.heard<core::WorkerExited>(), IsEmpty());
  EXPECT_TRUE(daemon.session().ending());
  // A next daemon has to hear of the end again.
  EXPECT_EQ(world.place.offset, static_cast<std::int64_t>(world.journal.size()) - 1);
  daemon.tell(core::CheckpointVerified{1, "/c/1", 1, 10, ""});
  ASSERT_THAT(world.heard<core::WorkerExited>(), SizeIs(1));
  EXPECT_EQ(world.state.history.attempts_without_progress, 0) << "it had kept a step";
}

TEST(Ending, HasWhatTheLogsSay) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.say(exited_with(1));
  daemon.session().shim_ended();
  daemon.run();
  daemon.session().looked_back(
      {{{"oom", core::Cause::device_oom, 60, "out of memory", "stderr.log:1"}}, {}});
  daemon.run();
  ASSERT_THAT(world.all<core::RecordAttemptEnded>(), SizeIs(1));
  EXPECT_EQ(world.all<core::RecordAttemptEnded>().front().cause, core::Cause::device_oom);
}

TEST(Ending, OfAShimThatLeftNoWordIsALoss) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  daemon.session().shim_ended();
  daemon.run();
  daemon.session().looked_back({});
  daemon.run();
  ASSERT_THAT(world.all<core::RecordAttemptEnded>(), SizeIs(1));
  EXPECT_EQ(world.all<core::RecordAttemptEnded>().front().cause, core::Cause::lost);
}

}  // namespace
}  // namespace trainward::session

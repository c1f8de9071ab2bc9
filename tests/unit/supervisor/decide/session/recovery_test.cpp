// A daemon dies anywhere; the next one goes on from what was committed.
#include "fakes.hpp"

namespace trainward::session {
namespace {

using core::Stage;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A daemon that trains, and is killed when it asks for this.
void train_and_die(World& world, const std::string& dies_at) {
  FakeDaemon daemon(world);
  daemon.dies_at = dies_at;
  EXPECT_THROW(daemon.train(), Killed) << dies_at;
}

TEST(Recovery, BetweenTheCommitAndTheLaunchNothingRuns) {
  World world;
  train_and_die(world, "launch 1");  // before anything came of it
  EXPECT_EQ(world.state.stage, Stage::launching);
  world.found = Found::never;
  world.pass(5'000);
  FakeDaemon next(world);
  next.recover();
  EXPECT_EQ(world.times("launch 1"), 1) << "not once more";
  next.session().unjudged({});
  next.session().looked_back({});
  next.run();
  ASSERT_THAT(world.all<core::RecordAttemptEnded>(), SizeIs(1));
  EXPECT_EQ(world.all<core::RecordAttemptEnded>().front().cause, core::Cause::lost);
  EXPECT_FALSE(next.session().recovering());
}

TEST(Recovery, BetweenTheLaunchAndItsCommitTheWorkerIsTakenOver) {
  World world;
  train_and_die(world, "launch 1");
  world.say(core::WorkerStarted{41});
  world.say(core::PhaseEntered{"train"});
  FakeDaemon next(world);
  next.recover();
  EXPECT_EQ(world.state.stage, Stage::training);
  EXPECT_THAT(world.heard<core::Adopted>(), SizeIs(1));
  EXPECT_EQ(world.times("launch 1"), 1) << "no second worker";
}

TEST(Recovery, AnAnswerThatNeverCameIsAskedForAgain) {
  World world;
  train_and_die(world, "select");
  FakeDaemon next(world);
  next.recover();
  EXPECT_EQ(world.times("select"), 2);
}

TEST(Recovery, BeforeTheFirstCommitThereIsNothing) {
  World world;
  world.refuses = true;
  {
    FakeDaemon daemon(world);
    daemon.session().begin(true);
    daemon.run();
  }
  EXPECT_THAT(world.recorded, IsEmpty());
}

TEST(Recovery, EachRecordOfTheJournalCountsOnce) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.train();
    world.say(core::StepDone{2, 2.0, 1, {}, 1, 1});
    daemon.hear();
  }
  world.piece = 3;
  for (std::int64_t step = 3; step <= 20; ++step) world.say(core::StepDone{step, 2.0, 1, {}, 1, 1});
  FakeDaemon next(world);
  next.recover();
  const auto steps = world.all<core::RecordStep>();
  ASSERT_THAT(steps, SizeIs(20));
  for (std::size_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].step.number, static_cast<std::int64_t>(i + 1));
  }
}

TEST(Recovery, WhatEndedMeanwhileIsToldInItsOwnTime) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.train();
  }
  world.pass(1'000);
  world.say(core::CheckpointReported{"/c/1", 1});
  world.pass(1'000);
  const Time ended = world.time;
  world.say(exited_with(75));
  constexpr std::int64_t away_ms = 3 * 3'600'000;
  world.pass(away_ms);
  world.found = Found::gone;
  FakeDaemon next(world);
  next.recover();
  EXPECT_TRUE(next.session().recovering());
  next.session().unjudged({{1, "/c/1", 1}});
  EXPECT_EQ(world.times("verify /c/1"), 1) << "the journal has told of it";
  next.session().looked_back({});
  next.tell(core::CheckpointVerified{1, "/c/1", 1, 10, ""});
  ASSERT_THAT(world.heard<core::WorkerExited>(), SizeIs(1));
  EXPECT_EQ(world.heard<core::WorkerExited>().front().at, ended);
  ASSERT_THAT(world.heard<core::DaemonStarted>(), SizeIs(1));
  EXPECT_EQ(world.heard<core::DaemonStarted>().front().at, world.time);
  std::int64_t down_ms = 0;
  for (const core::RecordSpan& span : world.all<core::RecordSpan>()) {
    if (span.cause == core::Cause::supervisor_down) down_ms += span.duration_ms;
  }
  EXPECT_EQ(down_ms, away_ms) << "nobody's work";
}

TEST(Recovery, ACheckpointThatTheDeadDaemonHadToJudgeIsJudged) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.train();
    world.say(core::CheckpointReported{"/c/1", 1});
    daemon.hear();
  }
  FakeDaemon next(world);
  next.recover();
  next.session().unjudged({{1, "/c/1", 1}});
  next.run();
  EXPECT_EQ(world.times("verify /c/1"), 2);
  next.tell(core::CheckpointVerified{1, "/c/1", 1, 10, ""});
  EXPECT_EQ(world.state.history.kept_step.number, 1);
}

TEST(Recovery, AMachineThatWentDownTookTheAttemptWithIt) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.train();
  }
  world.say(core::CheckpointReported{"/c/1", 1});
  world.time = {world.time.wall + 600'000, MonoTime{1'000}};
  world.found = Found::gone;
  FakeDaemon next(world);
  next.recover(true);
  next.session().unjudged({});
  next.run();
  EXPECT_THAT(world.all<core::RecordAttemptEnded>(), IsEmpty()) << "what it kept is not known yet";
  next.tell(core::CheckpointVerified{1, "/c/1", 1, 10, ""});
  ASSERT_THAT(world.all<core::RecordAttemptEnded>(), SizeIs(1));
  EXPECT_EQ(world.all<core::RecordAttemptEnded>().front().cause, core::Cause::lost);
  EXPECT_EQ(world.state.history.kept_step.number, 1);
}

TEST(Recovery, DeadlinesOfTheDeadDaemonDoNotFire) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.train();
  }
  world.pass(24 * std::int64_t{3'600'000});
  FakeDaemon next(world);
  next.recover();
  next.pass(1'000);
  EXPECT_EQ(world.times("signal kill"), 0);
}

TEST(Recovery, AStopOfTheDeadDaemonIsSentAgain) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.train();
    daemon.dies_at = "signal terminate";
    EXPECT_THROW(daemon.tell(core::StopRequested{"operator"}), Killed);
  }
  EXPECT_EQ(world.state.stage, Stage::stopping);
  FakeDaemon next(world);
  next.recover();
  EXPECT_EQ(world.times("signal terminate"), 2);
}

}  // namespace
}  // namespace trainward::session

// A shim that has started and has not said yet who it is.
#include "fakes.hpp"

namespace trainward::session {
namespace {

using ::testing::SizeIs;

TEST(Attempt, AShimThatIsStartingIsTakenOverWhenItReports) {
  World world;
  {
    FakeDaemon daemon(world);
    daemon.dies_at = "launch 1";
    EXPECT_THROW(daemon.train(), Killed);
  }
  world.found = Found::starting;
  FakeDaemon next(world);
  next.recover();
  EXPECT_EQ(world.times("find"), 1);
  // It cannot be told of a stop before it is known.
  next.tell(core::StopRequested{"operator"});
  EXPECT_EQ(world.times("signal terminate"), 1);
  world.found = Found::lives;
  world.say(core::WorkerStarted{41});
  next.hear();
  EXPECT_EQ(world.times("find"), 2);
  EXPECT_EQ(world.times("signal terminate"), 2) << "now it was told";
}

TEST(Attempt, ASignalThatFindsNobodyEndsIt) {
  World world;
  FakeDaemon daemon(world);
  daemon.train();
  world.found = Found::never;
  daemon.tell(core::StopRequested{"operator"});
  daemon.session().looked_back({});
  daemon.run();
  EXPECT_THAT(world.all<core::RecordAttemptEnded>(), SizeIs(1));
  EXPECT_EQ(world.state.stage, core::Stage::stopped);
}

// The deadlines begin to count when everything is read.
TEST(Attempt, WhileItIsBehindNoDeadlinePasses) {
  World world;
  world.piece = 1;
  FakeDaemon daemon(world);
  daemon.train();
  for (std::int64_t step = 2; step <= 40; ++step) {
    world.pass(daemon.policy.deadlines.train_floor_ms / 2);
    world.say(core::StepDone{step, 2.0, 1, {}, 1, 1});
  }
  daemon.hear();
  EXPECT_EQ(world.times("signal kill"), 0);
  EXPECT_EQ(world.state.current.last_step.number, 40);
}

}  // namespace
}  // namespace trainward::session

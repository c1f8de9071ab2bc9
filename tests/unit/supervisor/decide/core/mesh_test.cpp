// Programs that go on with a smaller mesh, and come back to the full one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/decide/core/need.hpp"
#include "world.hpp"

namespace trainward::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t a_minute_ms = 60'000;

ProbeFinished whole(std::vector<std::string> pairs = {"l1", "l2"}) {
  ProbeFinished probe{{{"A", "OK", true, ""}, {"B", "OK", true, ""}}, ""};
  const std::int64_t links = std::ssize(pairs);
  probe.set = BoardSet{{"A", "B"}, "", {"2x2", std::move(pairs), links}};
  return probe;
}

ProbeFinished without_b() {
  ProbeFinished probe{{{"A", "OK", true, ""}, {"B", "ARC_DEAD", false, "no heartbeat"}}, ""};
  const std::string why = "a mesh of 2x2 cannot be placed: board B is ARC_DEAD";
  probe.set = BoardSet{{}, why};
  probe.smaller = SmallerSet{{"A"}, {"1x2", "2x2", why, 2}, "a step takes about 2 times as long"};
  return probe;
}

World small_world(bool can_reset = false) {
  World world;
  world.policy.needs_board = true;
  world.policy.can_reset = can_reset;
  world.policy.target_step = {1000};
  world.policy.grow_after_ms = 10 * a_minute_ms;
  world.feed(StartRequested{});
  return world;
}

// The attempt ends, its steps are kept, and the next look is due.
World& end_after_moving(World& world, std::int64_t step) {
  world.feed(CheckpointVerified{world.state.attempt, "/c/step", step, 1, ""});
  return world.feed(exited_with(exit_code::try_again), 100);
}

std::vector<std::string> texts(const World& world, std::string_view kind) {
  std::vector<std::string> all;
  for (const RecordEvent& event : world.every<RecordEvent>()) {
    if (event.kind == kind) all.push_back(event.text);
  }
  return all;
}

TEST(SmallerMesh, IsTakenWhenTheFullOneDoesNotFit) {
  World world = small_world();
  world.feed(without_b()).feed(CheckpointSelected{});
  ASSERT_THAT(world.newest<Launch>(), SizeIs(1));
  EXPECT_EQ(world.newest<Launch>()[0].board, "A");
  EXPECT_THAT(world.newest<Launch>()[0].more_boards, IsEmpty());
  EXPECT_THAT(world.newest<RecordEvent>().back().text, HasSubstr("a mesh of 1x2 instead of 2x2"));
  EXPECT_THAT(texts(world, "placement"),
              ElementsAre("a mesh of 2x2 cannot be placed: board B is ARC_DEAD",
                          "on a mesh of 1x2 instead of 2x2, where a step takes about 2 times as "
                          "long; back once it fits, which is looked at every 10 min 00 s"));
  EXPECT_EQ(plight_of(world.state, world.time).at("smaller_mesh").as_string(), "1x2 of 2x2");
}

TEST(SmallerMesh, IsNamedBesideTheWholeOne) {
  World world = small_world();
  world.feed(whole()).feed(CheckpointSelected{});
  EXPECT_EQ(mesh_words(world.state.boards), "2x2");
  EXPECT_THAT(serials_of(world.state.boards), ElementsAre("A", "B"));
  World other = small_world();
  other.feed(without_b()).feed(CheckpointSelected{});
  EXPECT_EQ(mesh_words(other.state.boards), "1x2 of 2x2");
  EXPECT_THAT(serials_of(other.state.boards), ElementsAre("A"));
  other.feed(exited_with(1), 1'000);
  if (other.state.stage == Stage::backoff) other.feed(TimerFired{}, 10 * a_minute_ms);
  other.feed(ProbeFinished{{{"A", "OK", true, ""}}, ""});
  EXPECT_EQ(mesh_words(other.state.boards), "") << "configured for any one board now";
}

TEST(SmallerMesh, IsTakenOnlyAfterWhatIsBrokenWasReset) {
  World world = small_world(true);
  world.feed(without_b());
  ASSERT_THAT(world.newest<Repair>(), SizeIs(1));
  EXPECT_EQ(world.newest<Repair>()[0].serial, "B");
  world.feed(Repaired{Remedy::reset_board, "exit code 1", ""});
  EXPECT_EQ(world.state.stage, Stage::probing);
  world.feed(without_b());
  EXPECT_EQ(world.state.stage, Stage::selecting);
  EXPECT_THAT(world.every<Repair>(), SizeIs(1));
}

// A cable that is down, between boards that work.
ProbeFinished without_cable() {
  ProbeFinished probe{{{"A", "OK", true, ""}, {"B", "OK", true, ""}}, ""};
  const std::string why = "a mesh of 2x2 cannot be placed: the links from A to B are down";
  probe.set = BoardSet{{}, why};
  probe.set->unlinked = {"A", "B"};
  probe.smaller = SmallerSet{{"A"}, {"1x2", "2x2", why, 2}, "slower"};
  return probe;
}

TEST(SmallerMesh, IsTakenOnlyAfterBoardsWithoutLinksWereResetTogether) {
  World world = small_world(true);
  world.feed(without_cable());
  ASSERT_THAT(world.newest<Repair>(), SizeIs(1));
  EXPECT_EQ(world.newest<Repair>()[0].serial, "A");
  EXPECT_THAT(world.newest<Repair>()[0].more, ElementsAre("B"));
  world.feed(Repaired{Remedy::reset_board, "", "A OK; B OK"}).feed(without_cable());
  EXPECT_EQ(world.state.stage, Stage::selecting);
  EXPECT_THAT(world.every<Repair>(), SizeIs(1));
  EXPECT_EQ(mesh_words(world.state.boards), "1x2 of 2x2");

  World back = small_world(true);
  back.feed(without_cable()).feed(Repaired{Remedy::reset_board, "", ""}).feed(whole());
  EXPECT_EQ(mesh_words(back.state.boards), "2x2");
}

TEST(SmallerMesh, WithoutProgressTheSameBoardIsNotResetAgain) {
  World world = small_world(true);
  world.feed(without_b()).feed(Repaired{Remedy::reset_board, "exit code 1", ""}).feed(without_b());
  world.attempt_to_training(0).feed(exited_with(1), 1'000);
  if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 10 * a_minute_ms);
  world.feed(without_b());
  EXPECT_EQ(world.state.stage, Stage::selecting);
  EXPECT_THAT(world.every<Repair>(), SizeIs(1));
  EXPECT_THAT(texts(world, "placement"), SizeIs(2)) << "told once";
}

TEST(SmallerMesh, TheFullOneIsTakenByTheNextAttemptInAnyCase) {
  World world = small_world();
  world.feed(without_b()).attempt_to_training(0).steps(1, 3).feed(exited_with(1), 1'000);
  if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 10 * a_minute_ms);
  world.feed(whole()).feed(CheckpointSelected{});
  EXPECT_EQ(world.newest<Launch>()[0].board, "A");
  EXPECT_THAT(world.newest<Launch>()[0].more_boards, ElementsAre("B"));
  EXPECT_FALSE(world.state.boards.smaller);
  EXPECT_EQ(texts(world, "placement").back(), "the full mesh of 2x2 is there again");
}

TEST(SmallerMesh, WhileItTrainsTheFullOneIsLookedForAndTheRunMovesBack) {
  World world = small_world();
  world.feed(without_b()).attempt_to_training(0).steps(1, 3);
  world.feed(TimerFired{}, 9 * a_minute_ms);
  EXPECT_THAT(world.newest<Probe>(), IsEmpty());
  world.steps(4, 5, 30'000).feed(TimerFired{}, 100);
  ASSERT_THAT(world.newest<Probe>(), SizeIs(1));
  EXPECT_GT(*next_timer(world.state), world.time.mono);
  world.feed(without_b(), 100);
  EXPECT_EQ(world.state.stage, Stage::training) << "not yet";
  world.steps(6, 30, 30'000).feed(TimerFired{});
  ASSERT_THAT(world.newest<Probe>(), SizeIs(1));
  world.feed(whole(), 100);
  ASSERT_THAT(world.newest<SendSignal>(), SizeIs(1));
  EXPECT_EQ(world.newest<SendSignal>()[0].signal, Signal::terminate);
  EXPECT_EQ(world.newest<RecordEvent>()[0].kind, "planned");
  end_after_moving(world, 30);
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::larger_mesh);
  EXPECT_EQ(world.state.stage, Stage::probing) << "at once";
  world.feed(whole()).feed(CheckpointSelected{"/c/step", 30, ""});
  EXPECT_THAT(world.newest<Launch>()[0].more_boards, ElementsAre("B"));
}

ProbeFinished with_three() {
  ProbeFinished probe = without_b();
  probe.smaller = SmallerSet{{"A"}, {"1x3", "2x2", "board B is ARC_DEAD", 3}, "slower"};
  return probe;
}

TEST(SmallerMesh, ALargerOneBelowTheFullIsMovedToAsWell) {
  World world = small_world();
  world.feed(without_b()).attempt_to_training(0).steps(1, 21, 30'000);
  world.feed(TimerFired{}).feed(with_three(), 100);
  ASSERT_EQ(world.state.stage, Stage::stopping);
  EXPECT_THAT(texts(world, "planned"), ElementsAre(HasSubstr("a mesh of 1x3 fits now")));
  end_after_moving(world, 21);
  EXPECT_EQ(world.newest<RecordAttemptEnded>()[0].cause, Cause::larger_mesh);
  world.feed(with_three());
  EXPECT_EQ(mesh_words(world.state.boards), "1x3 of 2x2");
  EXPECT_EQ(world.state.boards.growth.failures, 0);
  world.attempt_to_training(21).steps(22, 43, 30'000).feed(TimerFired{}).feed(with_three());
  EXPECT_EQ(world.state.stage, Stage::training) << "it has that one";
  end_after_moving(world, 43).feed(without_b());
  EXPECT_EQ(world.state.boards.growth.failures, 1) << "lost again within a day";
}

TEST(SmallerMesh, AMoveThatKeptNothingIsChargedToNoBudget) {
  World world = small_world();
  world.feed(without_b()).attempt_to_training(0).steps(1, 21, 30'000);
  world.feed(TimerFired{}).feed(whole());
  ASSERT_EQ(world.state.stage, Stage::stopping);
  world.feed(exited_with(exit_code::try_again));
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
  EXPECT_EQ(world.state.history.charged_attempts, 0);
  EXPECT_EQ(world.state.stage, Stage::probing);
}

TEST(SmallerMesh, ThePauseDoublesWhileTheFullOneIsLostAgain) {
  World world = small_world();
  world.feed(without_b());
  std::int64_t step = 0;
  std::int64_t pause = 10 * a_minute_ms;
  for (int failures = 0; failures < 4; ++failures, pause *= 2) {
    world.attempt_to_training(step);
    const MonoTime launched = world.state.current.launched_mono_ms;
    EXPECT_EQ(*world.state.boards.growth.look_mono_ms - launched, pause);
    const std::int64_t last = step + pause / 30'000 + 1;
    world.steps(step + 1, last, 30'000).feed(TimerFired{}).feed(whole());
    ASSERT_EQ(world.state.stage, Stage::stopping) << failures;
    step = last;
    end_after_moving(world, step).feed(without_b());
  }
  EXPECT_EQ(pause_ms(world.state.boards.growth, 10 * a_minute_ms), 160 * a_minute_ms);
  world.state.boards.growth.failures = 60;
  EXPECT_EQ(pause_ms(world.state.boards.growth, 10 * a_minute_ms), 24 * 60 * a_minute_ms);
}

TEST(SmallerMesh, AfterADayOnTheFullOneThePauseStartsOver) {
  Growth growth;
  growth.failures = 3;
  growth.moved_wall_ms = WallTime{1'000};
  lose(growth, WallTime{1'000 + 25 * 60 * a_minute_ms});
  EXPECT_EQ(growth.failures, 0);
  lose(growth, WallTime{1'000 + 26 * 60 * a_minute_ms});
  EXPECT_EQ(growth.failures, 0) << "still the same loss";
}

TEST(SmallerMesh, NobodyMovesInTheLastStepOrWhereTheStopWouldCostSteps) {
  World world = small_world();
  world.policy.target_step = {22};
  world.feed(without_b()).attempt_to_training(0).steps(1, 21, 30'000);
  world.feed(TimerFired{}).feed(whole());
  EXPECT_EQ(world.state.stage, Stage::training);

  World other = small_world();
  other.policy.saves_when_asked = false;
  other.feed(without_b()).attempt_to_training(0).steps(1, 21, 30'000);
  other.feed(TimerFired{}).feed(whole());
  EXPECT_EQ(other.state.stage, Stage::training);
}

TEST(SmallerMesh, NoLookIsLeftWhenTheAttemptHasEnded) {
  World world = small_world();
  world.feed(without_b()).attempt_to_training(0).steps(1, 3);
  world.feed(StopRequested{"uid 1000"}).feed(TimerFired{}, 20 * a_minute_ms);
  EXPECT_THAT(world.newest<Probe>(), IsEmpty());
  world.feed(exited_with(exit_code::try_again));
  EXPECT_FALSE(world.state.boards.growth.look_mono_ms);
  EXPECT_FALSE(next_timer(world.state));
}

TEST(SmallerMesh, SurvivesTheDatabase) {
  World world = small_world();
  world.feed(without_b()).attempt_to_training(0).steps(1, 3);
  const auto again = state_from_json(to_json(world.state));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again, world.state);
}

// Four devices cannot share two sequences, and two can: what was split for them is not for all.
TEST(SmallerMesh, HasALadderOfPlansOfItsOwn) {
  World world = small_world();
  world.policy.shrinking = {4, 0, 0, false, true, 4};
  world.feed(without_b()).attempt_to_training(0).steps(1, 1);
  WorkerExited full = exited_with(1);
  full.matches = {{"oom", Cause::device_oom, 60, "out of memory", "stderr.log:3"}};
  for (int i = 0; i < 2; ++i) {
    world.feed(full, 1'000);
    if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 10 * a_minute_ms);
    world.feed(without_b()).feed(CheckpointSelected{});
    if (i == 0) world.feed(WorkerStarted{42}).feed(PhaseEntered{"train"});
  }
  ASSERT_THAT(world.newest<Launch>(), SizeIs(1));
  EXPECT_EQ(world.newest<Launch>()[0].plan.batch, 2);
  EXPECT_EQ(world.newest<Launch>()[0].plan.accumulation, 2);
  world.feed(LaunchFailed{"no fork"}, 1'000);
  if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 10 * a_minute_ms);
  world.feed(whole()).feed(CheckpointSelected{});
  EXPECT_EQ(world.newest<Launch>()[0].plan.batch, 4);
  EXPECT_EQ(world.newest<Launch>()[0].plan.accumulation, 1);
}

// ---- what the mesh once had ----

TEST(KnownMesh, IsThatOfTheFirstStartThatDidAStep) {
  World world = small_world();
  world.feed(whole({"l1"})).feed(CheckpointSelected{}).feed(WorkerStarted{42});
  EXPECT_FALSE(world.state.boards.known_mesh.proven);
  world.feed(exited_with(1), 1'000);
  if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 10 * a_minute_ms);
  world.feed(whole({"l1", "l2"})).attempt_to_training(0).steps(1, 1);
  EXPECT_TRUE(world.state.boards.known_mesh.proven);
  world.feed(exited_with(1), 1'000);
  if (world.state.stage == Stage::backoff) world.feed(TimerFired{}, 10 * a_minute_ms);
  ProbeFinished fewer = whole({"l1"});
  fewer.set->lacks = "l2 is missing";
  world.feed(fewer);
  EXPECT_THAT(world.state.boards.known_mesh.pairs, ElementsAre("l1", "l2"));
  EXPECT_THAT(texts(world, "placement"), ElementsAre("l2 is missing"));
}

TEST(KnownMesh, IsForgottenWhenSomebodyStartsTheProgramByHand) {
  World world = small_world();
  world.feed(whole()).attempt_to_training(0).steps(1, 1).feed(StopRequested{"uid 1000"});
  world.feed(exited_with(exit_code::try_again)).feed(StartRequested{.anew = false});
  EXPECT_TRUE(world.state.boards.known_mesh.proven) << "a daemon that comes back";
  world.feed(StopRequested{"uid 1000"}).feed(StartRequested{.by = "uid 1000"});
  EXPECT_EQ(world.state.boards.known_mesh, KnownMesh{});
}

TEST(Settling, IsSaidWhileItLasts) {
  World world = small_world(true);
  world.feed(without_b()).feed(Settling{30'000});
  EXPECT_EQ(world.state.stage, Stage::repairing);
  EXPECT_EQ(world.state.reason,
            "leaving the boards of the mesh alone for 30.0 s after their reset");
}

}  // namespace
}  // namespace trainward::core

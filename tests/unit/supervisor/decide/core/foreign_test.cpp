// A program that is only looked at: what it says may come late, in bursts, or not at all.
#include <gmock/gmock.h>

#include <cmath>

#include "world.hpp"

namespace trainward::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t second_ms = 1'000;
constexpr std::int64_t minute_ms = 60 * second_ms;
constexpr std::int64_t hour_ms = 60 * minute_ms;

struct Foreign : World {
  Foreign() {
    policy.foreign = true;
    policy.speaks = false;
    policy.keeps_checkpoints = false;
    begin();
  }
  void begin() { feed(StartRequested{}).feed(CheckpointSelected{}).feed(WorkerStarted{42}, 5); }
  // Nothing is said for so long; `busy`: the processor is used. False: it was called hung.
  bool quiet(std::int64_t ms, bool busy) {
    for (std::int64_t left = ms; left > 0; left -= second_ms) {
      feed(TimerFired{}, second_ms);
      if (state.stage == Stage::killing) return false;
      if (newest<CheckActivity>().empty()) continue;
      if (busy) cpu_ms += minute_ms;
      feed(ActivitySeen{cpu_ms, 0});
    }
    return true;
  }
  void burst(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) feed(StepDone{++step_number, 1.0}, i % 2);
  }
  // Ends the attempt that was called hung, and begins the next from the beginning.
  void next_attempt() {
    feed(ended_by(9), 10);
    while (state.stage == Stage::backoff) feed(TimerFired{}, second_ms);
    feed(CheckpointSelected{}).feed(WorkerStarted{43}, 5);
    step_number = 0;
  }
  std::vector<std::string> told(const std::string& kind) const {
    std::vector<std::string> texts;
    for (const RecordEvent& event : every<RecordEvent>()) {
      if (event.kind == kind) texts.push_back(event.text);
    }
    return texts;
  }

  std::int64_t step_number = 0;
  std::int64_t cpu_ms = 0;
};

// It says over and over that it waits: 800 bytes a second, next to no processor time.
TEST(Foreign, ChatterBeforeTheFirstStepIsNoLifeOnceStepsWereSeen) {
  for (const bool stepped : {true, false}) {
    SCOPED_TRACE(stepped);
    Foreign run;
    if (stepped) {
      run.burst(20);
      run.feed(exited_with(1), 10);
    } else {
      run.feed(exited_with(1), 10);
    }
    while (run.state.stage == Stage::backoff) run.feed(TimerFired{}, second_ms);
    run.feed(CheckpointSelected{}).feed(WorkerStarted{43}, 5);
    std::int64_t written = 0;
    std::int64_t lasted = 0;
    for (; lasted < 6 * hour_ms && run.state.stage != Stage::killing; lasted += second_ms) {
      run.feed(TimerFired{}, second_ms);
      written += 800;
      if (!run.newest<CheckActivity>().empty()) run.feed(ActivitySeen{0, written});
    }
    EXPECT_EQ(run.state.stage == Stage::killing, stepped);
    if (stepped) {
      EXPECT_LE(lasted, run.policy.deadlines.silence_ms * 17 / 16 + minute_ms);
      EXPECT_THAT(run.state.current.kill->why, HasSubstr("wrote little"));
    }
  }
}

// Compiling, copying data: work before the first step is not ended.
TEST(Foreign, WorkBeforeTheFirstStepStaysLifeWhenStepsWereSeen) {
  Foreign run;
  run.burst(20);
  run.feed(exited_with(1), 10);
  while (run.state.stage == Stage::backoff) run.feed(TimerFired{}, second_ms);
  run.feed(CheckpointSelected{}).feed(WorkerStarted{43}, 5);
  std::int64_t written = 0;
  for (std::int64_t lasted = 0; lasted < 3 * hour_ms; lasted += second_ms) {
    run.feed(TimerFired{}, second_ms);
    written += 20'000;
    if (!run.newest<CheckActivity>().empty()) run.feed(ActivitySeen{0, written});
  }
  EXPECT_EQ(run.state.stage, Stage::training);
}

// nanoGPT tells of the step it resumed at once more; the step of a file that is written while the
// program goes on is known by its time alone.
TEST(Foreign, GoingOnNearTheCheckpointIsNoBreach) {
  for (const std::int64_t first : {501, 500, 480, 251}) {
    Foreign world;
    world.next_attempt();
    world.feed(ended_by(9), 10).feed(TimerFired{}, hour_ms);
    world.feed(CheckpointSelected{"/c/ckpt.pt", 500, ""}).feed(WorkerStarted{44}, 5);
    world.feed(StepDone{first, 1.0}, second_ms);
    EXPECT_EQ(world.state.stage, Stage::training) << first;
    EXPECT_EQ(world.state.current.first_step, Step{first});
  }
  Foreign world;
  world.next_attempt();
  world.feed(ended_by(9), 10).feed(TimerFired{}, hour_ms);
  world.feed(CheckpointSelected{"/c/ckpt.pt", 500, ""}).feed(WorkerStarted{44}, 5);
  world.feed(StepDone{1, 1.0}, second_ms);
  EXPECT_EQ(world.state.current.kill->cause, Cause::resume_contract);
}

// 8 KiB of lines of 60 bytes at ten seconds a step.
TEST(Foreign, OutputThatIsKeptBackIsNoHang) {
  Foreign world;
  for (int i = 0; i < 6; ++i) {
    ASSERT_TRUE(world.quiet(23 * minute_ms, true)) << "before burst " << i;
    world.burst(136);
  }
  EXPECT_THAT(world.told("watch"),
              ElementsAre(testing::AllOf(HasSubstr("136 at a time, 23 min"),
                                         HasSubstr("PYTHONUNBUFFERED=1")),
                          HasSubstr("no step for 3 h 50 min counts as a hang")));
}

// Once its clock is known, ten times the longest gap is a hang, busy or not.
TEST(Foreign, OneThatStopsAfterBurstsIsSeen) {
  Foreign world;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(world.quiet(2 * minute_ms, true));
    world.burst(136);
  }
  EXPECT_TRUE(world.quiet(19 * minute_ms, true));
  EXPECT_FALSE(world.quiet(2 * minute_ms, true));
}

TEST(Foreign, BeforeItsClockIsKnownSilenceAloneIsNoHang) {
  Foreign busy;
  busy.burst(136);
  EXPECT_TRUE(busy.quiet(5 * hour_ms, true));
  Foreign idle;
  idle.burst(136);
  EXPECT_TRUE(idle.quiet(9 * minute_ms, false)) << "what loading is allowed";
  EXPECT_FALSE(idle.quiet(3 * minute_ms, false));
  EXPECT_THAT(idle.told("kill").at(0), HasSubstr("no processor time and wrote nothing"));
}

TEST(Foreign, OneThatShowsEachStepIsWatchedAsEver) {
  Foreign world;
  for (int i = 0; i < 20; ++i) world.feed(StepDone{++world.step_number, 1.0}, 10 * second_ms);
  EXPECT_TRUE(world.quiet(90 * second_ms, true));
  EXPECT_FALSE(world.quiet(20 * second_ms, true)) << "ten times a step";
}

// A long evaluation after step 20, of which nothing is to be seen, is called a hang at most once.
TEST(Foreign, TheSamePlaceIsNotCalledAHangTwice) {
  Foreign world;
  const auto train = [&](int steps) {
    for (int i = 0; i < steps; ++i) world.feed(StepDone{++world.step_number, 1.0}, 10 * second_ms);
  };
  train(20);
  ASSERT_FALSE(world.quiet(5 * minute_ms, true));
  world.next_attempt();
  train(20);
  EXPECT_TRUE(world.quiet(5 * minute_ms, false)) << "three times what was too long";
  train(20);
  EXPECT_TRUE(world.quiet(45 * minute_ms, true));
  EXPECT_FALSE(world.quiet(10 * minute_ms, true)) << "ten times the longest gap";
}

TEST(Foreign, OneOfWhichNothingIsSeenHangsWhenItNeitherComputesNorWrites) {
  Foreign busy;
  EXPECT_TRUE(busy.quiet(100 * hour_ms, true));
  Foreign idle;
  EXPECT_TRUE(idle.quiet(29 * minute_ms, false));
  EXPECT_FALSE(idle.quiet(4 * minute_ms, false));
  Foreign unwatched;
  unwatched.policy.deadlines.silence_ms = 0;
  unwatched.feed(ended_by(9), 10);
  unwatched.begin();
  EXPECT_TRUE(unwatched.quiet(100 * hour_ms, false));
}

// Its checkpoints are its own affair: going back to the newest of them is all that can be tried.
TEST(Foreign, OneThatFindsItsOwnPlaceIsStartedAgainWhenItsLossIsNoNumber) {
  Foreign world;
  const auto breaks_at = [&](std::int64_t step) {
    world.feed(StepDone{step - 1, 1.0}, 10);
    world.feed(StepDone{step, NAN}, 10);
    ASSERT_EQ(world.state.stage, Stage::killing);
    world.feed(ended_by(9), 10);
  };
  const auto goes_on = [&] {
    while (world.state.stage == Stage::backoff) world.feed(TimerFired{}, second_ms);
    if (world.state.stage != Stage::selecting) return false;
    world.feed(CheckpointSelected{}).feed(WorkerStarted{43}, 5);
    return true;
  };
  breaks_at(300);
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(goes_on()) << again;
    breaks_at(300);
  }
  ASSERT_TRUE(goes_on());
  breaks_at(500);  // beyond the trouble: another one
  for (int again = 0; again < 2; ++again) {
    ASSERT_TRUE(goes_on()) << again;
    breaks_at(500);
  }
  ASSERT_TRUE(goes_on());
  breaks_at(500);
  EXPECT_FALSE(goes_on());
  EXPECT_EQ(world.state.stage, Stage::fatal);
}

}  // namespace
}  // namespace trainward::core

// A program that is not told from where to resume: where an attempt goes on shows in its first
// step.
#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "world.hpp"

namespace trainward::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct OwnPlace : World {
  OwnPlace() {
    policy.foreign = true;
    policy.told_to_resume = false;
    policy.speaks = false;
    policy.keeps_checkpoints = false;
    begin();
  }
  void begin() {
    feed(StartRequested{});
    launch();
  }
  OwnPlace& launch(std::int64_t load_ms = 5) {
    while (state.stage == Stage::backoff) feed(TimerFired{}, 1'000);
    feed(CheckpointSelected{}).feed(WorkerStarted{42}, load_ms);
    return *this;
  }
  std::vector<std::string> told(const std::string& kind) const {
    std::vector<std::string> texts;
    for (const RecordEvent& event : every<RecordEvent>()) {
      if (event.kind == kind) texts.push_back(event.text);
    }
    return texts;
  }
  // Milliseconds of a phase in all spans that were closed.
  [[nodiscard]] std::int64_t booked(Phase phase) const {
    std::int64_t sum = 0;
    for (const RecordSpan& span : every<RecordSpan>()) {
      if (span.phase == phase) sum += span.duration_ms;
    }
    return sum;
  }
};

// 30 of 30, and then its clean-up fails at every start.
TEST(OwnPlace, WhatFailsBehindItsLastStepIsGivenUpSoonAndSaysThatAllIsDone) {
  OwnPlace world;
  for (std::int64_t step = 1; step <= 30; ++step) {
    world.feed(
        StepDone{.step = {step}, .figures = {.loss = 1.0}, .counter_end = {30}, .of_run = true},
        10);
  }
  WorkerExited failed = exited_with(1);
  failed.matches = {{"data-file", Cause::data, 45, "FileNotFoundError: checkpoint-20", ""}};
  world.feed(failed, 10);
  world.launch().feed(failed, 10);
  EXPECT_EQ(world.state.stage, Stage::fatal);
  EXPECT_THAT(world.state.reason, HasSubstr("step 30 is done, its last"));
  EXPECT_THAT(world.state.reason,
              HasSubstr("data before its first step (30 was reached before): FileNotFoundError"));
}

TEST(OwnPlace, WhatAWaitMayCureIsWaitedForBehindTheLastStepToo) {
  OwnPlace world;
  world.feed(StepDone{.step = {1}, .figures = {.loss = 1.0}, .counter_end = {1}, .of_run = true},
             10);
  WorkerExited failed = exited_with(1);
  failed.matches = {{"full", Cause::disk, 60, "No space left on device", ""}};
  world.feed(failed, 10);
  world.launch().feed(failed, 10);
  EXPECT_EQ(world.state.stage, Stage::backoff);
}

// Somebody has ended its shell, and what the shell had started saves.
TEST(OwnPlace, WhatOutlivesItsFirstProcessHasTheTimeOfAStop) {
  OwnPlace world;
  world.feed(StepDone{{1}, 1.0}, 10);
  world.feed(Outlived{"process 7 (python3)"}, 10);
  EXPECT_EQ(world.state.stage, Stage::stopping);
  EXPECT_THAT(world.state.reason, HasSubstr("process 7 (python3)"));
  world.feed(TimerFired{}, world.policy.deadlines.stop_ms);
  EXPECT_EQ(world.newest<SendSignal>().at(0).signal, Signal::kill);
  WorkerExited exit = ended_by(15);
  exit.asked_to_stop = true;
  world.feed(exit, 10);
  EXPECT_EQ(world.state.history.last_cause, Cause::try_again);
  EXPECT_EQ(world.state.stage, Stage::selecting);
}

TEST(OwnPlace, ItIsToldFromWhereTheProgramItselfFinds) {
  OwnPlace world;
  EXPECT_THAT(world.told("launch"),
              ElementsAre("attempt 1; the program picks its own starting point"));
  EXPECT_FALSE(world.every<RecordAttemptBegun>().at(0).told_to_resume);
  World told;
  told.run_to_training();
  EXPECT_TRUE(told.every<RecordAttemptBegun>().at(0).told_to_resume);
}

// It goes on from a checkpoint that nobody sees, and always falls at the same step.
TEST(OwnPlace, OneThatAlwaysFallsAtTheSameStepIsGivenUp) {
  OwnPlace world;
  world.policy.budgets.attempts_without_progress = 3;
  world.steps(1, 333).feed(ended_by(9));
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
  for (int attempt = 1; attempt <= 3; ++attempt) {
    ASSERT_EQ(world.state.stage, attempt == 1 ? Stage::selecting : Stage::backoff) << attempt;
    world.launch().steps(301, 333).feed(ended_by(9));
    EXPECT_EQ(world.state.history.attempts_without_progress, attempt);
  }
  EXPECT_EQ(display(world.state.stage), "FATAL");
}

TEST(OwnPlace, OneThatGetsFurtherOrLivesLongIsNot) {
  OwnPlace world;
  world.steps(1, 333).feed(ended_by(9));
  world.launch().steps(301, 334).feed(ended_by(9));
  EXPECT_EQ(world.state.history.attempts_without_progress, 0);
  world.launch().steps(301, 310).feed(ended_by(9), progress_unseen_ms);
  EXPECT_EQ(world.state.history.attempts_without_progress, 0) << "it may count from its own start";
}

TEST(OwnPlace, ItsFirstStepTellsWhereItGoesOn) {
  OwnPlace world;
  world.steps(1, 30).feed(exited_with(1), 10);
  EXPECT_THAT(world.told("resume"), IsEmpty()) << "a run that begins";
  world.launch().steps(21, 40);
  EXPECT_THAT(world.told("resume"),
              ElementsAre(HasSubstr("resumed at step 21; steps 21 to 30 are being repeated")));
  world.feed(exited_with(1), 10);
  world.launch().steps(41, 41);
  EXPECT_THAT(world.told("resume").at(1), "resumed at step 41");
}

// Until the first step nobody knows whether it is a new one.
TEST(OwnPlace, TheTimeUpToTheFirstStepIsBookedAsThatStepIs) {
  OwnPlace again;
  again.steps(1, 30, 1'000).feed(exited_with(1));
  again.launch().feed(StepDone{21, 1.0}, 60'000).steps(22, 30, 1'000).steps(31, 31, 1'000);
  EXPECT_EQ(again.booked(Phase::replaying), 70'000) << "until the first new step is done";
  EXPECT_EQ(again.booked(Phase::stepping), 30'000);
  OwnPlace on;
  on.steps(1, 30, 1'000).feed(exited_with(1));
  on.launch().feed(StepDone{31, 1.0}, 60'000).feed(exited_with(0));
  EXPECT_EQ(on.booked(Phase::replaying), 0) << "nothing was done again";
  EXPECT_EQ(on.booked(Phase::stepping), 90'000);
}

TEST(OwnPlace, AfterACleanEndNothingIsAReplay) {
  OwnPlace world;
  world.steps(1, 10).feed(exited_with(0), 10);
  ASSERT_EQ(world.state.stage, Stage::exited);
  world.begin();
  world.steps(1, 10);
  EXPECT_THAT(world.told("resume"), IsEmpty());
  for (const RecordStep& step : world.every<RecordStep>()) EXPECT_FALSE(step.replayed);
}

// What an attempt survived is counted from where it went on, not from the run's beginning.
TEST(OwnPlace, AFaultLikeClockworkIsSeen) {
  OwnPlace world;
  world.policy.saves_when_asked = true;
  for (std::int64_t from = 1; from <= 41; from += 20) {
    world.steps(from, from + 19).feed(ended_by(9), 10);
    EXPECT_EQ(world.state.history.faults.back().survived, 20);
    world.launch();
  }
  world.steps(61, 79);
  EXPECT_EQ(world.state.stage, Stage::stopping) << "a step before it falls again";
}

TEST(OwnPlace, ARollbackDoesNotSayWhatItCannotDo) {
  OwnPlace world;
  world.policy.keeps_checkpoints = true;
  world.steps(1, 30).feed(CheckpointVerified{1, "/c/20", 20, 1, ""});
  world.feed(StepDone{31, std::numeric_limits<double>::quiet_NaN()}, 10).feed(ended_by(9), 10);
  world.launch();
  EXPECT_THAT(world.told("rollback"), IsEmpty());
  EXPECT_THAT(world.state.next.skip, IsEmpty());
}

TEST(Unseen, AnHourOfLifeIsNoAttemptInVainWhereStepsAreUnknown) {
  const auto charged = [](bool foreign, std::int64_t lived_ms, bool step) {
    OwnPlace world;
    world.policy.foreign = foreign;
    world.policy.keeps_checkpoints = true;  // and none was seen
    world.policy.watch_cpu = true;
    if (step) world.feed(StepDone{1, 1.0});
    world.feed(Alive{}, lived_ms).feed(exited_with(1));
    return world.state.history.attempts_without_progress;
  };
  EXPECT_EQ(charged(true, progress_unseen_ms - 10, false), 1);
  EXPECT_EQ(charged(true, progress_unseen_ms, false), 0);
  EXPECT_EQ(charged(true, 2 * progress_unseen_ms, true), 1)
      << "its steps are known, and none was kept";
  EXPECT_EQ(charged(false, 2 * progress_unseen_ms, false), 1)
      << "one that speaks says what it does";
}

TEST(Unseen, WhatNobodyToldIsNotRecordedAsANumber) {
  World world;
  world.run_to_training().feed(StepDone{1}, 10).feed(StepDone{2, 2.5, {}, {}, 64}, 10);
  const auto steps = world.every<RecordStep>();
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].figures, StepFigures{});
  EXPECT_EQ(steps[1].figures, (StepFigures{.loss = 2.5, .tokens = 64}));
  EXPECT_THAT(world.state.watch.loss.recent, ElementsAre(2.5));
}

TEST(Unseen, ALossThatIsNoNumberIsNotAnUnknownOne) {
  World world;
  world.run_to_training().steps(1, 3).feed(StepDone{4}, 10);
  EXPECT_EQ(world.state.stage, Stage::training);
  world.feed(StepDone{5, std::numeric_limits<double>::quiet_NaN()}, 10);
  EXPECT_EQ(world.state.stage, Stage::killing);
  EXPECT_EQ(world.state.current.kill->cause, Cause::nan);
}

}  // namespace
}  // namespace trainward::core

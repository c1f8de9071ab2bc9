#include "trainer/loop/training_loop.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_trainable.hpp"
#include "trainer/data/batch_reader.hpp"
#include "worker_bench.hpp"

// What the loop does with ports that fail; how it behaves inside a worker is in worker_test.cpp.
namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Saves take as many looks at them as the test says.
class FakeCheckpoints final : public CheckpointPort {
 public:
  Status begin(const Progress& progress) override {
    EXPECT_FALSE(running_) << "a save was doubled";
    begun.push_back(progress.step);
    running_ = progress.step;
    looks_ = 0;
    return {};
  }
  [[nodiscard]] std::optional<std::int64_t> pending() const override { return running_; }
  std::optional<Outcome> take() override {
    if (!running_ || looks_++ < lasts_looks) return std::nullopt;
    return wait();
  }
  std::optional<Outcome> wait() override {
    if (!running_) return std::nullopt;
    Outcome outcome{*running_, std::filesystem::path("saved"), 0};
    if (disk_full) outcome.folder = fail(ErrorKind::transient, "no space left", "disk");
    running_.reset();
    return outcome;
  }

  Status keep(const std::vector<Evaluated>& best) override {
    kept.clear();
    for (const Evaluated& one : best) kept.push_back(one.step);
    return {};
  }

  std::vector<std::int64_t> begun;
  std::vector<std::int64_t> kept;
  int lasts_looks = 0;
  bool disk_full = false;

 private:
  std::optional<std::int64_t> running_;
  int looks_ = 0;
};

// The steps at which the model was asked.
class Spoken final : public Samples {
 public:
  Result<bool> speak(std::int64_t step) override {
    at.push_back(step);
    return true;
  }
  std::vector<std::int64_t> at;
};

class TrainingLoopTest : public testing::Test {
 protected:
  TrainingLoopTest() {
    const std::vector<std::string> paths{(bench_.folder() / "data").string()};
    corpus_.emplace(Corpus::read(paths, 8).value());
    requests_.seen = &bench_.said.last_step;
  }

  Result<Ending> run(LoopPlan plan) {
    Reporter reporter({[this](const Message& message) {
                         bench_.said.messages.push_back(message);
                         if (const auto step = find_int(message, "STEP")) {
                           bench_.said.last_step = *step;
                         }
                       },
                       [this](std::string_view text) { bench_.said.out += text; },
                       [this](std::string_view text) { bench_.said.err += text; },
                       [] { return Time{}; }});
    BatchReader data(*corpus_, 2, 1, 3);
    HeldOut held_out(*corpus_, 3, 2);
    FakeTrainable model(record_);
    TrainingLoop loop(plan, model, data, {},
                      {reporter, requests_, checkpoints_, &held_out, &samples_});
    return loop.run();
  }

  WorkerBench bench_;
  std::optional<Corpus> corpus_;
  RequestsAtSteps requests_;
  FakeRecord record_;
  FakeCheckpoints checkpoints_;
  Spoken samples_;
};

// After a crash saves may come more often; what the model says is not asked for more often.
TEST_F(TrainingLoopTest, SpeaksAsOftenAsItWasAskedFor) {
  EXPECT_EQ(run({.steps = 10, .checkpoint_every = 4}).value(), Ending::finished);
  EXPECT_THAT(samples_.at, ElementsAre(4, 8, 10));
  samples_.at.clear();
  EXPECT_EQ(run({.steps = 10, .checkpoint_every = 1, .sample_every = 4}).value(), Ending::finished);
  EXPECT_THAT(samples_.at, ElementsAre(4, 8, 10));
}

TEST_F(TrainingLoopTest, SavesOnTheCadenceAndAtTheEnd) {
  EXPECT_EQ(run({.steps = 10, .checkpoint_every = 4}).value(), Ending::finished);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(4, 8, 10));
}

TEST_F(TrainingLoopTest, EvaluatesOnTheCadenceAndAtTheEnd) {
  EXPECT_EQ(run({.steps = 7, .checkpoint_every = 4, .log_every = 1, .evaluate_every = 3}).value(),
            Ending::finished);
  EXPECT_THAT(bench_.said.all("EVALUATED_STEP"), ElementsAre("3", "6", "7"));
  EXPECT_EQ(record_.evaluations, 6);  // three blocks, two at a time
  EXPECT_THAT(bench_.said.course(),
              testing::IsSupersetOf({std::string("PHASE=evaluate"), std::string("WATCHDOG=1")}));
  EXPECT_THAT(bench_.said.out, HasSubstr("step 3 held-out loss "));
}

TEST_F(TrainingLoopTest, AStopDoesNotWaitForAnEvaluation) {
  requests_.stop_at = 3;
  EXPECT_EQ(run({.steps = 9, .checkpoint_every = 4, .log_every = 1, .evaluate_every = 3}).value(),
            Ending::stopped);
  EXPECT_EQ(record_.evaluations, 0);
  EXPECT_THAT(bench_.said.all("EVALUATED_STEP"), testing::IsEmpty());
}

TEST_F(TrainingLoopTest, EvaluatesBeforeTheFirstStepWhenItIsToldTo) {
  EXPECT_EQ(
      run({.steps = 4, .checkpoint_every = 9, .evaluate_every = 3, .evaluate_first = true}).value(),
      Ending::finished);
  EXPECT_THAT(bench_.said.all("EVALUATED_STEP"), ElementsAre("0", "3", "4"));
}

// Of the losses after each step the best are those after steps 2 and 4.
TEST_F(TrainingLoopTest, TheBestAreSavedAndStay) {
  record_.losses = {9, 5, 3, 4, 2, 6, 7, 8, 9};
  checkpoints_.lasts_looks = 5;
  EXPECT_EQ(run({.steps = 8, .checkpoint_every = 100, .evaluate_every = 1, .keep_best = 2}).value(),
            Ending::finished);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(1, 2, 3, 4, 8));
  EXPECT_THAT(checkpoints_.kept, ElementsAre(4, 2));
}

TEST_F(TrainingLoopTest, EndsWhenNoEvaluationIsBetterForSoLong) {
  record_.losses = {9, 5, 3, 3, 2, 2, 2, 2, 1};
  EXPECT_EQ(run({.steps = 8, .checkpoint_every = 100, .evaluate_every = 1, .patience = 3}).value(),
            Ending::finished);
  EXPECT_EQ(record_.steps, 7);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(7));
  EXPECT_THAT(bench_.said.all("TARGET_STEP"), ElementsAre("7"));
  EXPECT_THAT(bench_.said.all("EARLY_END"), ElementsAre(bench_.said.all("STATUS").back()));
  EXPECT_THAT(bench_.said.all("STATUS").back(),
              HasSubstr("no evaluation has been better than 2.0000 at step 4"));
}

TEST_F(TrainingLoopTest, SavesTheLastStepOnce) {
  EXPECT_EQ(run({.steps = 8, .checkpoint_every = 4}).value(), Ending::finished);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(4, 8));
}

TEST_F(TrainingLoopTest, SavesWhenAskedTo) {
  requests_.save_at = 3;
  EXPECT_EQ(run({.steps = 5, .checkpoint_every = 100}).value(), Ending::finished);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(3, 5));
}

TEST_F(TrainingLoopTest, FinishesTheStepSavesAndStops) {
  requests_.stop_at = 6;
  EXPECT_EQ(run({.steps = 100, .checkpoint_every = 4}).value(), Ending::stopped);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(4, 6));
}

TEST_F(TrainingLoopTest, StopsWithoutSavingWhatIsSaved) {
  requests_.stop_at = 4;
  EXPECT_EQ(run({.steps = 100, .checkpoint_every = 4}).value(), Ending::stopped);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(4));
  requests_.stop_at = 0;
  bench_.said.last_step = 0;
  EXPECT_EQ(run({.steps = 100, .checkpoint_every = 4}).value(), Ending::stopped);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(4));
}

TEST_F(TrainingLoopTest, GoesOnWhenASaveFailsAndFailsWhenTheLastDoes) {
  checkpoints_.disk_full = true;
  auto ending = run({.steps = 6, .checkpoint_every = 2});
  ASSERT_FALSE(ending);
  EXPECT_EQ(ending.error().what, "no space left");
  EXPECT_EQ(record_.steps, 6);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(2, 4, 6));
  EXPECT_THAT(bench_.said.err,
              HasSubstr("trainward-worker: step 2 is not saved: disk: no space left\n"));
  EXPECT_TRUE(bench_.said.all("CHECKPOINT").empty());
}

TEST_F(TrainingLoopTest, ASaveThatIsDueWhileAnotherIsRunningIsToldAndMadeAfterIt) {
  checkpoints_.lasts_looks = 3;
  EXPECT_EQ(run({.steps = 10, .checkpoint_every = 2}).value(), Ending::finished);
  // Of step 2 until step 5; then the one that was due at 4, until step 8; that is due itself.
  EXPECT_THAT(checkpoints_.begun, ElementsAre(2, 5, 8, 10));
  EXPECT_THAT(bench_.said.all("CHECKPOINT_STEP"), ElementsAre("2", "5", "8", "10"));
  EXPECT_THAT(bench_.said.all("STATUS"),
              testing::Contains(HasSubstr("that of step 2 is still running")));
}

TEST_F(TrainingLoopTest, NoRunEndsBeforeItsSaveHas) {
  checkpoints_.lasts_looks = 100;
  record_.nan_at = 4;
  EXPECT_EQ(run({.steps = 10, .checkpoint_every = 2}).value(), Ending::not_a_number);
  EXPECT_THAT(bench_.said.all("CHECKPOINT_STEP"), ElementsAre("2"));
}

TEST_F(TrainingLoopTest, StopsAtALossThatIsNotANumberWithoutSavingIt) {
  record_.nan_at = 4;
  EXPECT_EQ(run({.steps = 10, .checkpoint_every = 2}).value(), Ending::not_a_number);
  EXPECT_THAT(checkpoints_.begun, ElementsAre(2));
  EXPECT_THAT(bench_.said.err, HasSubstr("loss = nan"));
  EXPECT_EQ(bench_.said.last_step, 3);
}

TEST_F(TrainingLoopTest, PassesOnAnErrorOfTheModel) {
  record_.fail_at = 3;
  auto ending = run({.steps = 10, .checkpoint_every = 2});
  ASSERT_FALSE(ending);
  EXPECT_EQ(ending.error().what, "the model broke");
}

TEST_F(TrainingLoopTest, LogsWholeLinesOnItsOwnCadence) {
  (void)run({.steps = 6, .checkpoint_every = 100, .log_every = 3});
  EXPECT_THAT(bench_.said.out, HasSubstr("1970-01-01T00:00:00.000Z step 3 loss "));
  EXPECT_THAT(bench_.said.out, HasSubstr(" step 6 loss "));
  EXPECT_THAT(bench_.said.out, testing::Not(HasSubstr(" step 4 loss ")));
  EXPECT_EQ(bench_.said.all("STEP").size(), 6U);
}

}  // namespace
}  // namespace trainward::trainer

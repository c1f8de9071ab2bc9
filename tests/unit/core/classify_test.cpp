#include "supervisor/core/classify.hpp"

#include <gtest/gtest.h>

namespace trainward::core {
namespace {

State training_at(std::int64_t step) {
  State state;
  state.stage = Stage::training;
  state.current.last_step = {step};
  return state;
}

WorkerExited exit_one_with(std::vector<LogMatch> matches) {
  WorkerExited exit;
  exit.code = 1;
  exit.matches = std::move(matches);
  return exit;
}

TEST(Classify, WhatWeDidOurselvesOutweighsEverything) {
  State state = training_at(7);
  state.current.kill = Kill{Cause::hang, "no progress for 3.0 s"};
  WorkerExited exit =
      exit_one_with({{"r", Cause::device_oom, 60, "Out of Memory", "stderr.log:1"}});
  EXPECT_EQ(classify(state, exit).cause, Cause::hang);
}

TEST(Classify, ARuleOutweighsAnExitCodeWithoutMeaning) {
  const Verdict verdict =
      classify(training_at(7),
               exit_one_with({{"root", Cause::ethernet, 60, "link lost", "stderr.log:4"},
                              {"cascade", Cause::unknown, 60, "INTERNAL 13", "stderr.log:9"}}));
  EXPECT_EQ(verdict.cause, Cause::ethernet);
  EXPECT_EQ(verdict.evidence.front().location, "stderr.log:4");
  EXPECT_NE(verdict.sentence.find("step 7"), std::string::npos);
}

TEST(Classify, AMeaningfulExitCodeOutweighsTheLog) {
  WorkerExited exit = exit_one_with({{"r", Cause::device_oom, 60, "mentions Out of Memory", ""}});
  exit.code = 0;
  EXPECT_EQ(classify(training_at(300), exit).cause, Cause::done);
  exit.code = 78;
  const Verdict refused = classify(training_at(0), exit);
  EXPECT_EQ(refused.cause, Cause::config);
  EXPECT_FALSE(may_retry(refused.cause));
}

TEST(Classify, WhatEndsBecauseItWasAskedToIsNotFinished) {
  WorkerExited exit;
  exit.asked_to_stop = true;
  exit.code = 0;
  EXPECT_EQ(classify(training_at(30), exit).cause, Cause::try_again);
  exit.code = 78;
  EXPECT_EQ(classify(training_at(30), exit).cause, Cause::config);
  exit.code.reset();
  exit.signal = 15;
  EXPECT_EQ(classify(training_at(30), exit).cause, Cause::try_again);
  exit.signal = 11;
  EXPECT_EQ(classify(training_at(30), exit).cause, Cause::crash);
  // We asked, and know what for.
  State state = training_at(30);
  state.current.kill = Kill{Cause::planned_restart, "ahead of the next out of memory"};
  exit.signal = 15;
  EXPECT_EQ(classify(state, exit).cause, Cause::planned_restart);
}

TEST(Classify, AWorkerThatRefusesItsConfigurationIsQuoted) {
  WorkerExited exit;
  exit.code = 78;
  exit.last_words = {"train.yaml:3: lr must be above 0", "stderr.log:12"};
  const Verdict verdict = classify(training_at(0), exit);
  EXPECT_EQ(verdict.cause, Cause::config);
  EXPECT_EQ(verdict.sentence,
            "config: exit code 78: the worker refused its configuration; its last line: "
            "\"train.yaml:3: lr must be above 0\"");
  EXPECT_EQ(verdict.evidence.front().location, "stderr.log:12");
  // What a rule found does not silence it: the worker knows better.
  exit.matches = {{"r", Cause::data, 60, "No such file", "stderr.log:3"}};
  EXPECT_EQ(classify(training_at(0), exit).sentence, verdict.sentence);
}

TEST(Classify, AnExitCodeThatNoRuleExplainsComesWithTheLastLine) {
  WorkerExited exit;
  exit.code = 3;
  EXPECT_EQ(classify(training_at(4), exit).sentence, "unknown at step 4: exit code 3");
  exit.last_words = {"the moon is full", "stdout.log:7"};
  const Verdict verdict = classify(training_at(4), exit);
  EXPECT_EQ(verdict.sentence,
            "unknown at step 4: exit code 3; its last line: \"the moon is full\"");
  EXPECT_EQ(verdict.evidence.front().weight, 20);
  EXPECT_EQ(verdict.evidence.front().location, "stdout.log:7");
  exit.matches = {{"r", Cause::device_oom, 60, "Out of Memory", "stderr.log:1"}};
  EXPECT_EQ(classify(training_at(4), exit).evidence[1].text, "exit code 3");
  exit.code = 0;
  EXPECT_EQ(classify(training_at(4), exit).sentence,
            "done at step 4: exit code 0: the worker finished its work");
}

TEST(Classify, EvidenceIsSortedByWeightAndNeverEmpty) {
  WorkerExited exit;
  exit.signal = 11;
  const Verdict verdict = classify(training_at(3), exit);
  EXPECT_EQ(verdict.cause, Cause::crash);
  ASSERT_EQ(verdict.evidence.size(), 2U);
  EXPECT_GT(verdict.evidence[0].weight, verdict.evidence[1].weight);
}

TEST(Classify, ALostShimIsLostUnlessWeKilledIt) {
  EXPECT_EQ(classify(training_at(3), AttemptLost{"no exit record"}).cause, Cause::lost);
  State state = training_at(3);
  state.current.kill = Kill{Cause::stopped, "asked"};
  EXPECT_EQ(classify(state, AttemptLost{"no exit record"}).cause, Cause::stopped);
}

}  // namespace
}  // namespace trainward::core

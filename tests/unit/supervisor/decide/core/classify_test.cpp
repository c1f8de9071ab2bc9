#include "supervisor/decide/core/turn/classify.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

TEST(Classify, WhoAskedItToEndIsNamedAndNotSuspectedWhenItWasUs) {
  WorkerExited exit;
  exit.asked_to_stop = true;
  exit.asked_by = "slurmstepd";
  exit.signal = 15;
  EXPECT_NE(classify(training_at(30), exit).sentence.find("slurmstepd asked it to end"),
            std::string::npos);
  // A signal of the program's own, and what a shell makes of it.
  exit.signal = 2;
  EXPECT_EQ(classify(training_at(30), exit).cause, Cause::try_again);
  exit.signal.reset();
  exit.code = 143;
  EXPECT_EQ(classify(training_at(30), exit).cause, Cause::try_again);
  State state = training_at(30);
  state.current.kill = Kill{Cause::stopped, "asked to stop by uid 0"};
  for (const Evidence& evidence : classify(state, exit).evidence) {
    EXPECT_NE(evidence.cause, Cause::try_again) << evidence.text;
  }
}

TEST(Classify, WhoWasStillRunningAtTheDeadlineIsNamed) {
  State state = training_at(30);
  state.current.kill = Kill{Cause::stopped, "asked to stop; it did not exit in time"};
  WorkerExited exit;
  exit.signal = 15;
  exit.cut_off = "process 7 (python3)";
  const Verdict verdict = classify(state, exit);
  EXPECT_EQ(verdict.cause, Cause::stopped);
  EXPECT_TRUE(std::ranges::any_of(verdict.evidence, [](const Evidence& evidence) {
    return evidence.text.find("process 7 (python3)") != std::string::npos;
  }));
}

TEST(Classify, AnExitCodeMeansDoneWhenTheProgramSaysSo) {
  WorkerExited exit;
  exit.code = 2;
  EXPECT_EQ(classify(training_at(7), exit, {0, 2}).cause, Cause::done);
  EXPECT_EQ(classify(training_at(7), exit).cause, Cause::unknown);
  exit.code = 0;
  const Verdict verdict = classify(training_at(7), exit, {2});
  EXPECT_EQ(verdict.cause, Cause::unknown);
  EXPECT_NE(verdict.sentence.find("not one of its exit_codes"), std::string::npos);
}

TEST(Classify, WhatEndsBeforeItsLastStepAfterARequestIsNotDone) {
  State state = training_at(33);
  state.current.first_step = {1};
  state.current.counter_end = {200};
  WorkerExited exit;
  exit.code = 0;
  EXPECT_EQ(classify(state, exit).cause, Cause::done) << "early, and nothing speaks against it";
  exit.matches = {
      {"unknown-preempted", Cause::unknown, 25, "Received SIGTERM: 15", "stdout.log:9"}};
  const Verdict verdict = classify(state, exit);
  EXPECT_EQ(verdict.cause, Cause::try_again);
  EXPECT_NE(verdict.sentence.find("33 of 200"), std::string::npos) << verdict.sentence;
  state.current.last_step = {200};
  EXPECT_EQ(classify(state, exit).cause, Cause::done);
}

TEST(Classify, DoneBeforeItsLastStepWithAnErrorInItsLogIsSaidToBeSo) {
  State state = training_at(6);
  state.current.first_step = {1};
  state.current.target_step = {100};
  WorkerExited exit;
  exit.code = 0;
  exit.matches = {
      {"config-name", Cause::config, 45, "NameError: x is not defined", "stderr.log:9"}};
  const Verdict verdict = classify(state, exit);
  EXPECT_EQ(verdict.cause, Cause::done);
  EXPECT_NE(verdict.sentence.find("6 of 100"), std::string::npos);
  EXPECT_NE(verdict.sentence.find("NameError"), std::string::npos);
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

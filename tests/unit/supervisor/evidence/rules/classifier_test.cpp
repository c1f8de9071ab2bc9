// What carries a verdict beyond single lines: strength, order, progress, tracebacks, the ending.
#include <gmock/gmock.h>

#include <random>

#include "matcher_fixture.hpp"
#include "supervisor/decide/core/turn/classify.hpp"

namespace trainward::rules {
namespace {

using Classifier = BuiltinMatcher;

TEST_F(Classifier, AnEmptyLogIsBenign) {
  const Conclusion found = classify("");
  EXPECT_FALSE(found.failed);
  EXPECT_EQ(found.crash_class(), "benign");
  EXPECT_EQ(found.verdict(), nullptr);
}

TEST_F(Classifier, ACauseBeatsWhatOthersSeeOfIt) {
  const Conclusion found = classify(
      "[rank1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1)\n"
      "[rank0]: ValueError: bad\n"
      "[rank2]: torch.OutOfMemoryError: CUDA out of memory.\n"
      "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:\n");
  EXPECT_EQ(found.crash_class(), "device_oom");
  std::vector<int> weights;
  for (const Finding& finding : found.findings) weights.push_back(finding.weight);
  EXPECT_THAT(weights, testing::ElementsAre(60, 45, 35, 25));
}

TEST_F(Classifier, OfExceptionsTheEarliestSpeaks) {
  EXPECT_EQ(classify("[rank0]: FileNotFoundError: x\n[rank1]: KeyError: 'y'\n").crash_class(),
            "data");
  EXPECT_EQ(classify("[rank1]: KeyError: 'y'\n[rank0]: FileNotFoundError: x\n").crash_class(),
            "config");
}

TEST_F(Classifier, ProgressOvercomes) {
  const std::string fault = "torch.OutOfMemoryError: CUDA out of memory.\n";
  EXPECT_TRUE(classify(fault + "step 1 loss 3\nstep 2 loss 3\n").failed);
  const std::string well = fault + "step 1 loss 3\nstep 2 loss 3\nstep 3 loss 2\n";
  EXPECT_FALSE(classify(well).failed);
  EXPECT_TRUE(classify(well).findings.at(0).overcome);
  // The same step told by many ranks, and a bar drawn again, are no progress.
  EXPECT_TRUE(classify(fault + "step 9 loss 3\nstep 9 loss 3\nstep 9 loss 3\n").failed);
  EXPECT_TRUE(classify(fault + " 1%| | 9/99 [00:01<1:00, 1it/s]\n 1%| | 9/99 [00:02<1:00, 1it/s]\r"
                               " 1%| | 9/99 [00:03<1:00, 1it/s]\n")
                  .failed);
  // A second series begins anew, and its first line is shown.
  const Conclusion again = classify(well + "CUDA out of memory. Tried 2\n");
  EXPECT_TRUE(again.failed);
  EXPECT_EQ(again.verdict()->line_number, 5);
  EXPECT_EQ(again.verdict()->count, 2);
  // Numbers that are none are no progress either.
  EXPECT_EQ(classify("step 1 loss nan\nstep 2 loss nan\nstep 3 loss nan\nstep 4 loss nan\n")
                .crash_class(),
            "nan");
}

TEST_F(Classifier, WhatWasOvercomeSpeaksWhenTheEndingSaysThatItFailed) {
  const std::string log =
      "torch.OutOfMemoryError: CUDA out of memory.\n"
      "step 1 loss 3\nstep 2 loss 3\nstep 3 loss 2\n";
  EXPECT_EQ(classify(log, {1, std::nullopt}).crash_class(), "device_oom");
  EXPECT_EQ(classify(log, {0, std::nullopt}).crash_class(), "benign");
  EXPECT_EQ(classify(log, {std::nullopt, 11}).crash_class(), "crash");
}

TEST_F(Classifier, EndingsAreEvidence) {
  EXPECT_EQ(classify("", {137, std::nullopt}).crash_class(), "killed");
  EXPECT_EQ(classify("", {std::nullopt, 9}).crash_class(), "killed");
  EXPECT_EQ(classify("", {78, std::nullopt}).crash_class(), "config");
  EXPECT_EQ(classify("", {1, std::nullopt}).crash_class(), "unknown");
  EXPECT_FALSE(classify("", {0, std::nullopt}).failed);
  EXPECT_EQ(classify("OSError: No space left on device", {std::nullopt, 9}).crash_class(), "disk");
  // A finished program is no fault, whatever its log says.
  EXPECT_FALSE(classify("OSError: No space left on device", {0, std::nullopt}).failed);
}

TEST_F(Classifier, AnEndingIsJudgedAsTheDaemonJudgesIt) {
  const auto daemon_says = [](std::optional<int> code, std::optional<int> signal) {
    core::WorkerExited exit;
    exit.code = code;
    exit.signal = signal;
    return core::classify(core::State{}, exit);
  };
  for (int signal = 1; signal <= 64; ++signal) {
    const core::Verdict daemon = daemon_says(std::nullopt, signal);
    const Conclusion found = classify("", {std::nullopt, signal});
    ASSERT_TRUE(found.failed) << signal;
    EXPECT_EQ(found.verdict()->cause, daemon.cause) << signal;
    EXPECT_EQ(found.verdict()->weight, daemon.evidence.front().weight) << signal;
    EXPECT_EQ(found.verdict()->line, daemon.evidence.front().text) << signal;
  }
  for (int code = 1; code <= 255; ++code) {
    const core::Verdict daemon = daemon_says(code, std::nullopt);
    const Conclusion found = classify("", {code, std::nullopt});
    ASSERT_TRUE(found.failed) << code;
    EXPECT_EQ(found.verdict()->cause, daemon.cause) << code;
    EXPECT_EQ(found.verdict()->weight, daemon.evidence.front().weight) << code;
    EXPECT_EQ(found.verdict()->line, daemon.evidence.front().text) << code;
  }
}

TEST_F(Classifier, AHintNeedsAFailure) {
  const std::string retry = "HTTP 503 Service Unavailable. Retrying in 2s\n";
  EXPECT_FALSE(classify(retry).failed);
  EXPECT_EQ(classify(retry, {1, std::nullopt}).crash_class(), "network");
  // The same without the promise convicts, and its line is the one shown.
  const Conclusion found = classify(retry + "503 Server Error: Service Unavailable\n");
  EXPECT_EQ(found.crash_class(), "network");
  EXPECT_EQ(found.verdict()->line_number, 2);
}

TEST_F(Classifier, CodeQuotedByATracebackIsNoEvidence) {
  EXPECT_EQ(classify("Traceback (most recent call last):\n"
                     "  File \"a.py\", line 3, in f\n"
                     "    raise MemoryError(\"CUDA out of memory\") if full else std::bad_alloc\n"
                     "KeyError: 'x'\n")
                .crash_class(),
            "config");
  EXPECT_FALSE(classify("Exception ignored in: <function X.__del__ at 0x1>\n"
                        "Traceback (most recent call last):\n"
                        "  File \"a.py\", line 3, in __del__\n"
                        "MemoryError\n"
                        "done\n")
                   .failed);
}

TEST_F(Classifier, StreamsAreApart) {
  LogClassifier classifier(*matcher);
  classifier.feed("CUDA out of mem", 2);
  classifier.feed("step 1 loss 3\nstep 2 loss 2\nstep 3 loss 1\n", 1);
  classifier.feed("ory\n", 2);
  classifier.feed("step 4 loss 3\nstep 5 loss 2\nstep 6 loss 1\n", 1);
  EXPECT_EQ(classifier.conclude().crash_class(), "device_oom");
  EXPECT_EQ(classifier.conclude().verdict()->stream, 2);
}

TEST_F(Classifier, ATracebackThatNoRuleKnowsIsToldByItsEnd) {
  for (const std::string head : {"", "[rank3]: ", "stderr| "}) {
    const Conclusion found =
        classify("step 1\n" + head + "Traceback (most recent call last):\n" + head +
                 "  File \"toy.py\", line 9, in <module>\n" + head + "    check(weights)\n" + head +
                 "toys.WeightsDiffer: layer 3 is not what it was\nbye\n");
    ASSERT_NE(found.verdict(), nullptr) << head;
    EXPECT_EQ(found.verdict()->line, head + "toys.WeightsDiffer: layer 3 is not what it was");
    EXPECT_EQ(found.verdict()->line_number, 5);
  }
  const Conclusion cut =
      classify("Traceback (most recent call last):\n  File \"x\", line 1, in y\n");
  ASSERT_NE(cut.verdict(), nullptr);
  EXPECT_EQ(cut.verdict()->line, "Traceback (most recent call last):");
}

TEST_F(Classifier, AnErrorStormCostsNoMemory) {
  LogClassifier classifier(*matcher);
  std::string piece;
  for (int i = 0; i < 2'000; ++i)
    piece += "RuntimeError: CUDA out of memory " + std::string(200, 'x') + "\n";
  for (int i = 0; i < 20; ++i) classifier.feed(piece);
  const Conclusion found = classifier.conclude();
  EXPECT_EQ(found.verdict()->count, 40'000);
  EXPECT_EQ(found.findings.size(), 1U);
}

TEST_F(Classifier, AnyBytesWillDo) {
  std::mt19937 random(7);  // NOLINT: the same bytes every time
  std::string bytes(1 << 20, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  EXPECT_FALSE(classify(bytes).failed);
  EXPECT_FALSE(classify(std::string(300'000, '\0')).failed);
  EXPECT_FALSE(classify(std::string(300'000, '\r')).failed);
  EXPECT_FALSE(classify(std::string(300'000, 'x')).failed);
}

TEST(ExceptionPart, PassesOverWhatLaunchersWrite) {
  EXPECT_EQ(exception_part("KeyError: 'x'"), "KeyError: 'x'");
  EXPECT_EQ(exception_part("[rank3]: torch.OutOfMemoryError: y"), "torch.OutOfMemoryError: y");
  EXPECT_EQ(exception_part("E   ValueError: z"), "ValueError: z");
  EXPECT_EQ(exception_part("[1,3]<stderr>: socket.timeout: w"), "socket.timeout: w");
  EXPECT_EQ(exception_part("(Worker pid=7, ip=1.2.3.4) MemoryError"), "MemoryError");
  EXPECT_EQ(exception_part("2026-01-02 10:00:00,123 ERROR OSError: v"), "OSError: v");
  EXPECT_EQ(exception_part("node1: 3: AssertionError"), "AssertionError");
  EXPECT_EQ(exception_part("caught KeyError: 'x', going on"), "");
  EXPECT_EQ(exception_part("Error: x"), "Error: x");
  EXPECT_EQ(exception_part("error: x"), "");
  EXPECT_EQ(exception_part(""), "");
}

}  // namespace
}  // namespace trainward::rules

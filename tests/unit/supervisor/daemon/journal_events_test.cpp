// Records of the journal are written by the shim, and what is in a message by the worker: foreign.
#include "supervisor/daemon/attempt/journal_events.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::daemon {
namespace {

JournalRecord record(std::string type, const std::string& fields) {
  JournalRecord record;
  record.type = std::move(type);
  record.fields = parse_json(fields, "the test").value().as_object();
  return record;
}

std::vector<core::Event> message(const std::string& fields) {
  return message_events(record("message", R"({"fields":)" + fields + "}"), "/runs/checkpoints");
}

template <typename Event>
Event only(const std::vector<core::Event>& events) {
  EXPECT_EQ(events.size(), 1U);
  return std::get<Event>(events.at(0));
}

TEST(JournalEvents, OnlyTheWorkersOwnMemoryLimitIsAnOutOfMemory) {
  const auto kills = [](const char* scope) {
    const auto exit = exit_event(record(
        "exited", std::string(R"({"signal":9,"oom_kills":2,"oom_scope":")") + scope + "\"}"));
    return std::get<core::WorkerExited>(exit.value()).oom_kills;
  };
  EXPECT_EQ(kills("worker"), 2);
  EXPECT_EQ(kills("group"), 0);
  EXPECT_EQ(kills("host"), 0);
  EXPECT_EQ(kills(""), 0);
}

TEST(JournalEvents, AnExitHasACodeOrASignal) {
  const auto exited = [](const char* fields) {
    return std::get<core::WorkerExited>(exit_event(record("exited", fields)).value());
  };
  EXPECT_EQ(exited(R"({"code":0})").code, 0);
  EXPECT_FALSE(exited(R"({"code":0})").signal);
  EXPECT_FALSE(exited(R"({"code":0})").asked_to_stop);
  const core::WorkerExited cut = exited(
      R"({"signal":9,"asked_by":"systemd","cut_off":[{"pid":7,"comm":"python3","wchan":"x"}]})");
  EXPECT_EQ(cut.asked_by, "systemd");
  EXPECT_EQ(cut.cut_off, "process 7 (python3)");
  EXPECT_EQ(exited(R"({"signal":15,"asked_to_stop":true})").signal, 15);
  EXPECT_TRUE(exited(R"({"signal":15,"asked_to_stop":true})").asked_to_stop);
  EXPECT_FALSE(exit_event(record("rotated", "{}")));
  const auto failed =
      exit_event(record("exec_failed", R"({"what":"no such file","transient":true})"));
  EXPECT_EQ(std::get<core::LaunchFailed>(failed.value()).what, "no such file");
}

TEST(JournalEvents, TheUnkillableAreNamedWithWhereTheyHang) {
  const auto what = [](const char* fields) { return unkillable_event(record("", fields)).what; };
  EXPECT_EQ(what(R"({"processes":[{"pid":41,"comm":"python","wchan":"tenstorrent_wait"},
                                  {"pid":42,"comm":"a\nb","wchan":""}]})"),
            "process 41 (python, in tenstorrent_wait), process 42 (a?b)");
  for (const char* fields :
       {"{}", R"({"processes":7})", R"({"processes":[]})", R"({"processes":[7,"x"]})"}) {
    EXPECT_EQ(what(fields), "one of its processes") << fields;
  }
}

TEST(JournalEvents, AStepSaysHowWellItUsedWhatItRanOn) {
  const auto use =
      only<core::StepDone>(message(R"({"STEP":"7","MFU":"0.41","COMMUNICATION":"0.07",)"
                                   R"("DEVICE_MEMORY":"9663676416",)"
                                   R"("DEVICE_MEMORY_LIMIT":"12884901888"})"))
          .figures;
  EXPECT_EQ(use, (StepFigures{.mfu = 0.41,
                              .communication = 0.07,
                              .device_memory = 9'663'676'416,
                              .device_memory_limit = 12'884'901'888}));
  // A share is none in percent, and memory has its bounds.
  const std::string wrong =
      R"({"STEP":"7","MFU":"41","COMMUNICATION":"-0.1","DEVICE_MEMORY":"9e9",)"
      R"("DEVICE_MEMORY_LIMIT":"-1"})";
  EXPECT_EQ(only<core::StepDone>(message(wrong)).figures, StepFigures{});
  EXPECT_EQ(out_of_range(record("message", R"({"fields":)" + wrong + "}"), {}),
            "MFU=41 is beyond 1");
}

// One stray datagram must not stay in the records of a run for ever.
TEST(JournalEvents, NumbersBeyondWhatCanBeAreLeftOutAndNamed) {
  EXPECT_TRUE(message(R"({"STEP":"4000000000000000000","LOSS":"1"})").empty());
  EXPECT_TRUE(message(R"({"STEP":"1000000000001"})").empty());
  EXPECT_TRUE(message(R"({"RESUMED_STEP":"9223372036854775807"})").empty());
  EXPECT_TRUE(message(R"({"EVALUATED_STEP":"9223372036854775807","EVALUATION_LOSS":"1"})").empty());
  const auto step = only<core::StepDone>(
      message(R"({"STEP":"1000000000000","LOSS":"1e29","TOKENS":"9223372036854775807",)"
              R"("GRAD_NORM":"1e300","TOKENS_PER_SECOND":"-1e31"})"));
  EXPECT_EQ(step.step.number, 1'000'000'000'000);
  EXPECT_EQ(step.figures, (StepFigures{.loss = 1e29}));
  const auto saved = only<core::CheckpointReported>(
      message(R"({"CHECKPOINT":"/runs/checkpoints/x","CHECKPOINT_STEP":"9223372036854775807",)"
              R"("CHECKPOINT_MS":"9223372036854775807"})"));
  EXPECT_EQ(saved.step.number, 0);
  EXPECT_EQ(saved.write_ms, 0);

  const auto said = [](const std::string& fields) {
    return out_of_range(record("message", R"({"fields":)" + fields + "}"), {}).value_or("");
  };
  EXPECT_EQ(said(R"({"STEP":"4000000000000000000"})"),
            "STEP=4000000000000000000 is beyond 1000000000000");
  EXPECT_EQ(said(R"({"STEP":"99999999999999999999"})"),  // no int64 either
            "STEP=99999999999999999999 is beyond 1000000000000");
  EXPECT_EQ(said(R"({"STEP":"1","TOKENS":"2000000000000000"})"),
            "TOKENS=2000000000000000 is beyond 1000000000000000");
  EXPECT_EQ(said(R"({"STEP":"1","LOSS":"1e308"})"), "LOSS=1e308 is beyond 1e+30");
  EXPECT_EQ(said(R"({"STEP":"1000000000000","LOSS":"nan","TOKENS":"1000000000000000"})"), "");
}

// The core takes it for what it is: a run that has diverged.
TEST(JournalEvents, ALossTooLargeToBeOneIsInfinite) {
  const auto loss = [](const std::string& text) {
    return *only<core::StepDone>(message(R"({"STEP":"1","LOSS":")" + text + "\"}")).figures.loss;
  };
  EXPECT_EQ(loss("1e308"), HUGE_VAL);
  EXPECT_EQ(loss("-1e31"), -HUGE_VAL);
  EXPECT_TRUE(std::isnan(loss("nan")));
}

TEST(JournalEvents, AnEvaluationHasAStepAndALoss) {
  const auto events = message(R"({"EVALUATED_STEP":"40","EVALUATION_LOSS":"2.5"})");
  EXPECT_EQ(only<core::Evaluated>(events).step.number, 40);
  EXPECT_EQ(only<core::Evaluated>(events).loss, 2.5);
  for (const char* fields : {R"({"EVALUATED_STEP":"40"})", R"({"EVALUATION_LOSS":"2.5"})",
                             R"({"EVALUATED_STEP":"-1","EVALUATION_LOSS":"2.5"})",
                             R"({"EVALUATED_STEP":"40","EVALUATION_LOSS":"much"})"}) {
    EXPECT_TRUE(message(fields).empty()) << fields;
  }
}

TEST(JournalEvents, AnEvaluationBeforeTheFirstStepAndAPerplexityCount) {
  const auto events = message(
      R"({"EVALUATED_STEP":"0","EVALUATION_LOSS":"2.5","EVALUATION_PERPLEXITY":"12.1825"})");
  EXPECT_EQ(only<core::Evaluated>(events).step.number, 0);
  EXPECT_EQ(only<core::Evaluated>(events).perplexity, 12.1825);
  for (const char* perplexity : {"nan", "inf", "1e31", "much"}) {
    const auto told = message(fmt::format(
        R"({{"EVALUATED_STEP":"1","EVALUATION_LOSS":"2.5","EVALUATION_PERPLEXITY":"{}"}})",
        perplexity));
    EXPECT_EQ(only<core::Evaluated>(told).perplexity, std::nullopt) << perplexity;
  }
}

TEST(JournalEvents, AnEarlyEndIsNoticed) {
  const auto noticed =
      only<core::Noticed>(message(R"({"EARLY_END":"no better\u001b[2J","STATUS":"x"})"));
  EXPECT_EQ(noticed.kind, "early_end");
  EXPECT_EQ(noticed.text, "no better?[2J");
}

TEST(JournalEvents, DataThatIsLeftOutIsNoticed) {
  const auto noticed = only<core::Noticed>(message(R"({"DATA_LEFT_OUT":"6 of 12 rows\u001b[2J"})"));
  EXPECT_EQ(noticed.kind, "data");
  EXPECT_EQ(noticed.text, "6 of 12 rows?[2J");
}

TEST(JournalEvents, ASampleIsForTheRecordAndASignOfLife) {
  const std::string fields =
      R"({"SAMPLE_STEP":"40","SAMPLE_PROMPT":"\"a\\nb\"","SAMPLE_ANSWER":"\"c\"","SAMPLE_TOKENS":"1"})";
  only<core::Alive>(message(fields));
  const auto said = sample(record("message", R"({"fields":)" + fields + "}"));
  ASSERT_TRUE(said);
  EXPECT_EQ(said->prompt, "a\nb");
  EXPECT_EQ(said->answer, "c");
  EXPECT_FALSE(sample(record("message", R"({"fields":{"STEP":"1"}})")));
  EXPECT_FALSE(sample(record("message", R"({"fields":7})")));
}

TEST(JournalEvents, TheLastStepMayBeTold) {
  EXPECT_EQ(only<core::TargetTold>(message(R"({"TARGET_STEP":"160"})")).step.number, 160);
  for (const char* step : {"0", "-1", "many", "9223372036854775807"}) {
    EXPECT_TRUE(message(fmt::format(R"({{"TARGET_STEP":"{}"}})", step)).empty()) << step;
  }
}

TEST(JournalEvents, ACompiledProgramIsForTheRecordAndASignOfLife) {
  const auto compiled = [](const std::string& fields) {
    return compiled_program(record("message", R"({"fields":)" + fields + "}"));
  };
  const std::string hit = R"({"CACHE_HIT":"3f2a","PROGRAM":"head","MS":"12"})";
  only<core::Alive>(message(hit));
  ASSERT_TRUE(compiled(hit));
  EXPECT_TRUE(compiled(hit)->hit);
  EXPECT_EQ(compiled(hit)->key, "3f2a");
  EXPECT_EQ(compiled(hit)->name, "head");
  EXPECT_EQ(compiled(hit)->ms, 12);
  EXPECT_EQ(compiled(hit)->dropped, "");
  const auto miss = compiled(
      R"({"CACHE_MISS":"3f2a","PROGRAM":"a\nb","MS":"-1","CACHE_DROPPED":"is cut short"})");
  ASSERT_TRUE(miss);
  EXPECT_FALSE(miss->hit);
  EXPECT_EQ(miss->name, "a?b");
  EXPECT_EQ(miss->ms, 0);
  EXPECT_EQ(miss->dropped, "is cut short");
  EXPECT_FALSE(compiled(R"({"PROGRAM":"head","MS":"12","CACHE_DROPPED":"x"})"));
  EXPECT_EQ(message(R"({"CACHE_MISS":"3f2a","PHASE":"train"})").size(), 1U) << "more than life";
}

TEST(JournalEvents, SeveralKeysAreSeveralEventsInTheOrderOfTheWork) {
  const auto events = message(
      R"({"STEP":"7","LOSS":"2.5","PHASE":"train","RESUMED_STEP":"6",
          "CHECKPOINT":"/runs/checkpoints/step-7","CHECKPOINT_STEP":"7","STATUS":"x"})");
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(std::get<core::Resumed>(events[0]).step.number, 6);
  EXPECT_EQ(std::get<core::PhaseEntered>(events[1]).phase, "train");
  EXPECT_EQ(std::get<core::StepDone>(events[2]).step.number, 7);
  EXPECT_EQ(std::get<core::StepDone>(events[2]).figures.loss, 2.5);
  EXPECT_EQ(std::get<core::CheckpointReported>(events[3]).path, "/runs/checkpoints/step-7");
}

TEST(JournalEvents, WhatIsInMemoryIsToldWithTheStep) {
  EXPECT_TRUE(
      only<core::Resumed>(message(R"({"RESUMED_STEP":"6","RESUMED_FROM":"memory"})")).from_memory);
  EXPECT_FALSE(only<core::Resumed>(message(R"({"RESUMED_STEP":"6"})")).from_memory);
  EXPECT_EQ(only<core::StepDone>(message(R"({"STEP":"7","MEMORY_STEP":"6"})")).in_memory.number, 6);
  EXPECT_EQ(only<core::StepDone>(message(R"({"STEP":"7"})")).in_memory.number, 0);
  EXPECT_EQ(only<core::StepDone>(message(R"({"STEP":"7","MEMORY_STEP":"-1"})")).in_memory.number,
            0);
}

TEST(JournalEvents, ACheckpointOutsideItsFolderIsNone) {
  for (const char* path : {"/etc", "relative", "/runs/checkpoints", "/runs/checkpoints/",
                           "/runs/checkpoints/../x", "/runs/checkpoints/a/b", ""}) {
    EXPECT_TRUE(message(std::string(R"({"CHECKPOINT":")") + path + "\"}").empty()) << path;
  }
}

TEST(JournalEvents, NumbersThatAreNoneAreLeftOut) {
  for (const char* step : {"-1", "0", "x", "1e3", "99999999999999999999", ""}) {
    EXPECT_TRUE(message(std::string(R"({"STEP":")") + step + "\"}").empty()) << step;
  }
  EXPECT_TRUE(
      std::isnan(*only<core::StepDone>(message(R"({"STEP":"1","LOSS":"nan"})")).figures.loss));
  EXPECT_EQ(only<core::StepDone>(message(R"({"STEP":"1","GRAD_NORM":"inf"})")).figures.grad_norm,
            std::nullopt);
  EXPECT_EQ(only<core::StepDone>(message(R"({"STEP":"1","LOSS":"much"})")).figures.loss,
            std::nullopt);
  EXPECT_EQ(only<core::StepDone>(message(R"({"STEP":"1"})")).figures.loss, std::nullopt);
  EXPECT_TRUE(message(R"({"STEP":7})").empty()) << "values are text";
  EXPECT_TRUE(message("7").empty());
  only<core::Alive>(message(R"({"WATCHDOG":"1"})"));
}

TEST(JournalEvents, ProcessesAreWhoTheShimSays) {
  containment::AttemptFacts facts;
  containment::take_processes(
      facts, record("started", R"({"pid":3,"start_ticks":4,"shim_pid":5,"shim_start_ticks":6,)"
                               R"("boot_id":"b","cgroup":"/c"})")
                 .fields);
  EXPECT_EQ(facts.shim, (ProcessId{5, 6, "b"}));
  EXPECT_EQ(facts.worker, (ProcessId{3, 4, "b"}));
  EXPECT_EQ(facts.cgroup, "/c");
}

}  // namespace
}  // namespace trainward::daemon

// What must not be taken for steps, and what must not be lost.
#include "supervisor/evidence/foreign/formats/recognizer.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <random>

#include "recognized.hpp"
#include "supervisor/evidence/foreign/log_watch.hpp"

namespace trainward::foreign {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string plain(std::initializer_list<int> steps) {
  std::string text;
  for (const int step : steps) text += fmt::format("step {} loss 2.5\n", step);
  return text;
}

TEST(Recognizer, BarsOfOtherWorkAreNoSteps) {
  std::string text;
  for (int i = 1; i <= 9; ++i) {
    text += bar("Loading checkpoint shards: ", i, 9) + bar("Map (num_proc=4): ", i * 100, 900) +
            bar("Tokenizing train dataset: ", i, 9) + bar("Validation: ", i, 9, "loss=0.5") +
            bar("", i, 9) + "model.safetensors:  45%|████▌     | 1.2G/2.2G [00:12<00:10, 98MB/s]\r";
  }
  EXPECT_THAT(recognized(text), IsEmpty());
}

TEST(Recognizer, InnocentLogsHaveNoSteps) {
  for (const std::string name : {"everyday", "help", "install", "kernel", "names", "paths",
                                 "runtime", "settings", "templates", "words"}) {
    std::ifstream in(std::string(INNOCENT) + "/" + name + ".txt");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    ASSERT_FALSE(text.empty()) << name;
    EXPECT_THAT(recognized(text), IsEmpty()) << name;
  }
  EXPECT_THAT(recognized("resuming from step 500 with loss 2.31\nresuming from step 501 with loss "
                         "2.30\nresuming from step 502 with loss 2.29\n"
                         "max_steps=1000 loss_scale=65536\nwarmup steps: 10, aux loss weight 0.1\n"
                         "best loss 0.5 at step 10\n2026-11-20 loss 1.0\n2026-11-21 loss 0.9\n"
                         "eval step 10 loss 0.5\neval step 11 loss 0.5\neval step 12 loss 0.5\n"
                         "torch 2.4.1 loss 1\ntorch 2.4.2 loss 1\ntorch 2.4.3 loss 1\n"),
              IsEmpty());
}

// disable_tqdm: the lines name no step, the state in its checkpoint does.
TEST(Recognizer, StepsOfLinesWithoutABarComeFromTheCheckpoint) {
  Heard heard;
  const auto line = [](double loss) {
    return fmt::format("{{'loss': {}, 'grad_norm': 1.5, 'learning_rate': 2e-05, 'epoch': 0.1}}\n",
                       loss);
  };
  heard.feed(line(2.5) + line(2.4) + line(2.3));
  EXPECT_THAT(heard.words(), ElementsAre(HasSubstr("its progress bar is off")));
  const auto logged = [](std::int64_t step, double loss) {
    StepFigures measures;
    measures.loss = loss;
    return Step{step, measures};
  };
  Events events;
  // The list goes back to an attempt before, and ends with the second of the three lines.
  heard.recognizer().learn({10, {logged(10, 3.1), logged(20, 2.5), logged(30, 2.40001)}}, events);
  EXPECT_THAT(words(events),
              ElementsAre(HasSubstr("from the log in its checkpoints"), StartsWith("step 20 2.5"),
                          StartsWith("step 30 2.4"), StartsWith("step 40 2.3")));
  EXPECT_EQ(heard.recognizer().newest(), 40);
  heard.feed(line(2.2));
  EXPECT_THAT(heard.words(), ElementsAre(StartsWith("step 50 2.2")));
  events.clear();
  heard.recognizer().learn({10, {logged(40, 2.3), logged(50, 2.2)}}, events);
  EXPECT_THAT(events, IsEmpty()) << "which is known";
}

TEST(Recognizer, AListThatIsNotOfTheseLinesTeachesNothing) {
  Heard heard;
  heard.feed("{'loss': 2.5, 'epoch': 0.1}\n{'loss': 2.4, 'epoch': 0.2}\n");
  heard.words();
  StepFigures other;
  other.loss = 7.5;
  Events events;
  heard.recognizer().learn({10, {Step{10, other}}}, events);
  heard.recognizer().learn({}, events);
  EXPECT_THAT(events, IsEmpty());
}

TEST(Recognizer, NothingCountsBeforeItHasProvedItselfAndThenAllDoes) {
  EXPECT_THAT(recognized(plain({10, 20})), IsEmpty());
  EXPECT_THAT(recognized(plain({10, 20, 30})), SizeIs(4));
  EXPECT_THAT(recognized(plain({10, 9, 8, 7, 6, 5, 4, 3, 2, 1})), IsEmpty()) << "it counts down";
  EXPECT_THAT(recognized(plain({50, 10, 50, 10, 50, 10})), IsEmpty());
}

TEST(Recognizer, ALineOfEachRankCountsOnce) {
  EXPECT_THAT(recognized(plain({1, 1, 1, 1, 2, 2, 2, 2, 3, 2, 3, 3, 4})),
              ElementsAre(StartsWith("noticed"), "step 1 2.5 -", "step 2 2.5 -", "step 3 2.5 -",
                          "step 4 2.5 -"));
}

TEST(Recognizer, AnEvaluationsCounterIsNotFollowed) {
  std::string text = plain({100, 110, 120});
  for (int i = 1; i <= 6; ++i) text += fmt::format("step {}/6 loss 0.5\n", i);
  EXPECT_THAT(
      recognized(text + plain({130})),
      ElementsAre(StartsWith("noticed"), "step 100 2.5 -", "step 110 2.5 -", "step 120 2.5 -",
                  "phase evaluate", "alive", "alive", "alive", "step 130 2.5 -"));
}

TEST(Recognizer, BatchesBeginAnewEachEpochAndStepsDoNot) {
  std::string text;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (const int done : {1, 50, 100}) text += bar("", done, 100, "loss=0.5");
    for (const int done : {1, 5, 10}) text += bar("", done, 10, "loss=0.25");
  }
  const auto events = recognized(text);
  EXPECT_THAT(events, AllOf(Contains("step 101 0.5 -"), Contains("step 300 0.5 -"),
                            Contains("phase save")));
  EXPECT_THAT(events, Not(Contains(HasSubstr(" 0.25 "))));
}

TEST(Recognizer, AStepIsTheLastAndWhatFollowsIsSaving) {
  EXPECT_THAT(recognized("step 8/10 loss 3\nstep 9/10 loss 2\nstep 10/10 loss 1\n" +
                         bar("Uploading: ", 1, 9) + bar("Uploading: ", 2, 9)),
              ElementsAre(StartsWith("noticed"), "step 8 3 -", "step 9 2 -", "step 10 1 -",
                          "phase save", "alive", "alive"));
}

TEST(Recognizer, ALossThatIsNoNumberOnceIsNoTroubleThreeTimesIs) {
  EXPECT_THAT(recognized("iter 1: loss nan, time 1ms\niter 2: loss 2.5, time 1ms\n"
                         "iter 3: loss nan, time 1ms\niter 4: loss inf, time 1ms\n"
                         "iter 5: loss nan, time 1ms\n"),
              ElementsAre(StartsWith("noticed"), "step 1 - -", "step 2 2.5 -", "step 3 - -",
                          "step 4 - -", "step 5 nan -"));
}

TEST(Recognizer, OneThatTellsMoreTakesOverAndStepsGoOn) {
  const std::string prefix = "[2026-01-01 12:00:00,000] [INFO] [Rank 0] ";
  Heard heard;
  heard.feed(prefix + "step=1, skipped=0, lr=[1e-05]\n" + prefix +
             "step=2, skipped=0, lr=[1e-05]\n");
  EXPECT_EQ(heard.recognizer().format(), find_format("deepspeed"));
  heard.feed(bar("", 1, 60) + bar("", 3, 60) +
             "\n{'loss': 2.5, 'learning_rate': 1e-05, 'epoch': 0.1}\n");
  EXPECT_EQ(heard.recognizer().format(), find_format("huggingface"));
  EXPECT_THAT(heard.words(),
              ElementsAre(StartsWith("noticed"), "step 1 - -", "step 2 - -",
                          StartsWith("noticed: recognised the output of Hugging"), "step 3 2.5 -"));
  heard.feed(prefix + "step=3, skipped=0, lr=[1e-05]\n" + bar("", 4, 60));
  EXPECT_THAT(heard.words(), ElementsAre("step 4 - -"));
}

TEST(Recognizer, AnotherIsFollowedWhenTheFirstHasFallenSilent) {
  std::string text = plain({100, 110, 120});
  for (int i = 1; i <= 40; ++i) text += fmt::format("iter {}: loss 1.5, time 3ms\n", i);
  const auto events = recognized(text);
  EXPECT_THAT(events, AllOf(Contains(HasSubstr("nanoGPT")), Contains("step 121 1.5 -")));
}

TEST(Recognizer, AResumedRunBeginsAtItsStep) {
  EXPECT_THAT(recognized(plain({501, 502, 503}), "auto", 500),
              AllOf(SizeIs(4), Contains("step 501 2.5 -")));
  EXPECT_THAT(recognized("iter 500: loss 2, time 1ms\niter 510: loss 1, time 1ms\n", "auto", 500),
              ElementsAre(StartsWith("noticed: recognised"), "step 510 1 -"))
      << "the step of the checkpoint is printed again";
  EXPECT_THAT(recognized(plain({1, 2, 3, 4, 6}), "auto", 5),
              ElementsAre(StartsWith("noticed: recognised"),
                          "noticed: the program tells of step 1, though it was to go on from step "
                          "5; its steps count from there on",
                          "step 6 2.5 -"));
}

TEST(Recognizer, WhatIsLostOfTheLogIsCountedAllTheSame) {
  Heard keras;
  keras.recognizer().go_on_from(1'850);
  keras.feed("60/900 [=>...] - ETA: 5s - loss: 0.5\r")
      .feed("70/900 [=>...] - ETA: 5s - loss: 0.5\r");
  keras.feed("80/900 [=>...] - ETA: 5s - loss: 0.25\r");
  EXPECT_THAT(keras.words(), ElementsAre(StartsWith("noticed"), "step 1860 0.25 -"));
}

TEST(Recognizer, AnySequenceOfBytesGivesIncreasingSteps) {
  const std::vector<std::string> pieces{"step ",
                                        "iter ",
                                        "Epoch ",
                                        "loss",
                                        ": ",
                                        "=",
                                        "/",
                                        " | ",
                                        "1",
                                        "25",
                                        "900",
                                        "2.5",
                                        "nan",
                                        "\n",
                                        "\r",
                                        "{'",
                                        "'loss': 2.5, 'epoch': 0.1}",
                                        "%|█| ",
                                        " [00:01<00:02, 4.9it/s",
                                        "]",
                                        "1|10|Loss: ",
                                        "v_num=",
                                        "skipped=0, lr=[1]",
                                        "\x1b[31m",
                                        "\b",
                                        "\xff",
                                        "val",
                                        ", ",
                                        "Step: ",
                                        " - ETA: 5s - ",
                                        "it",
                                        "-",
                                        "99999999999999999999",
                                        "1,234",
                                        "12:30",
                                        std::string(1, '\0')};
  std::mt19937 random(20261120);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += pieces[random() % pieces.size()];
    Events events;
    Recognizer recognizer(round % 2 == 0 ? nullptr : &formats()[random() % formats().size()]);
    LineSplitter lines(64 * 1024);
    lines.feed(text, [&](std::string_view line, std::int64_t) { recognizer.take(line, events); });
    recognizer.end(events);
    trainward::Step newest;
    for (const core::Event& event : events) {
      const auto* step = std::get_if<core::StepDone>(&event);
      if (step == nullptr) continue;
      ASSERT_GT(step->step, newest) << text;
      newest = step->step;
    }
  }
}

TEST(Recognizer, ChunksAreCutAnywhere) {
  const std::string text = "Epoch 1/2\n" + plain({1, 2}) + bar("Steps: ", 5, 50, "loss=2.5") +
                           "iter 1: loss 9.5, time 3ms\niter 2: loss 9.25, time 3ms\n" +
                           bar("Steps: ", 6, 50, "loss=2.25") + "iter 3: loss 9, time 3ms";
  const auto whole = recognized(text);
  EXPECT_THAT(whole, SizeIs(4));
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    Heard heard;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t length = 1 + random() % 40;
      heard.feed(std::string_view(text).substr(at, length));
      at += length;
    }
    EXPECT_EQ(heard.end().words(), whole);
  }
}

TEST(Recognizer, OwnRulesComeFirst) {
  auto recognizer = std::make_shared<Recognizer>();
  LogWatch out({{R"(^mine (?P<step>\d+))", ""}}, "/srv/train", recognizer);
  LogWatch err({{R"(^mine (?P<step>\d+))", ""}}, "/srv/train", recognizer);
  EXPECT_THAT(words(out.feed("mine 5 iter 1: loss 2\niter 1: loss 9.5, time 3ms\n")),
              ElementsAre("step 5 - -"));
  EXPECT_THAT(words(err.feed("iter 2: loss 9.25, time 3ms\n")),
              ElementsAre(StartsWith("noticed"), "step 1 9.5 -", "step 2 9.25 -"))
      << "both streams are one log";
}

TEST(Recognizer, LongLinesAreBounded) {
  Heard heard("nanogpt");
  heard.feed("iter 1: loss 9.5, time 3ms" + std::string(1 << 20, 'x') + "\n");
  EXPECT_THAT(heard.words(), Contains("step 1 9.5 -"));
  heard.feed(std::string(1 << 20, '\x1b') + "loss\n" + std::string(1 << 20, '1') + " loss\n");
  EXPECT_THAT(heard.words(), IsEmpty());
}

}  // namespace
}  // namespace trainward::foreign

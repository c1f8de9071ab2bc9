// Lines of a log, however they are cut into chunks.
#include "supervisor/evidence/foreign/log_watch.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "words.hpp"

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<LogRule> rules{
    {R"(step (?P<step>[\d,]+) .*loss (?P<loss>[0-9.eE+-]+|nan)(.* tok (?P<tokens>\d+))?)", "train"},
    {"^Compiling", "compile"},
    {R"(saved (?P<checkpoint>\S+))", ""},
    {R"(now in (?P<phase>\w+))", ""}};

LogWatch watch() { return LogWatch(rules, "/srv/train"); }

TEST(LogWatch, LinesBecomeEvents) {
  auto log = watch();
  EXPECT_THAT(words(log.feed("hello\nCompiling graph 1\nstep 1,024 x loss 2.5 at tok 99\n")),
              ElementsAre("phase compile", "phase train", "step 1024 2.5 99"));
  EXPECT_THAT(words(log.feed("now in save\nnow in bed\nstep 3 loss? loss nan\n")),
              ElementsAre("phase save", "phase train", "step 3 nan -"));
}

TEST(LogWatch, ChunksAreCutAnywhere) {
  const std::string text = "Compiling\r\nstep 7 a loss 1e-2\rstep 8 b loss 0.5\n";
  const auto whole = words(watch().feed(text));
  EXPECT_EQ(whole.size(), 5U);
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    auto log = watch();
    auto events = log.feed(text.substr(0, cut));
    for (auto& event : log.feed(text.substr(cut))) events.push_back(std::move(event));
    EXPECT_EQ(words(events), whole) << cut;
  }
}

TEST(LogWatch, TheLastLineNeedsNoEnd) {
  auto log = watch();
  EXPECT_THAT(log.feed("step 7 a loss 1"), IsEmpty());
  EXPECT_THAT(words(log.end()), ElementsAre("phase train", "step 7 1 -"));
  EXPECT_THAT(log.end(), IsEmpty());
}

TEST(LogWatch, CheckpointsLieBelowTheProgramsDirectory) {
  auto log = watch();
  const Events events = log.feed("saved ckpts/step-7.pt\nsaved /srv/other/x-8.pt\n");
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(std::get<core::CheckpointReported>(events[1]).path, "/srv/other/x-8.pt");
  EXPECT_EQ(std::get<core::CheckpointReported>(events[0]).path, "/srv/train/ckpts/step-7.pt");
  EXPECT_EQ(std::get<core::CheckpointReported>(events[0]).step.number, 7);
}

TEST(LogWatch, LongAndBinaryLinesAreBounded) {
  auto log = watch();
  for (int i = 0; i < 64; ++i) EXPECT_THAT(log.feed(std::string(64 * 1024, '\xff')), IsEmpty());
  EXPECT_THAT(words(log.feed("\nstep 7 a loss 1\n")), ElementsAre("phase train", "step 7 1 -"));
  EXPECT_THAT(log.feed("step 99999999999999999999 x loss 1\n").size(), 1U) << "the phase only";
}

// Who waits for steps is told that none will come.
TEST(LogWatch, WhatIsNotRecognisedIsSaidOnce) {
  const auto heard = [](int lines, const std::vector<LogRule>& with = {}) {
    LogWatch log(with, "/srv/train", std::make_shared<Recognizer>());
    std::vector<std::string> told;
    const auto add = [&](const Events& events) {
      for (std::string& text : words(events)) told.push_back(std::move(text));
    };
    for (int i = 0; i < lines; ++i) add(log.feed("working on it\n"));
    add(log.end());
    return told;
  };
  EXPECT_THAT(heard(19), IsEmpty()) << "too little to wonder";
  EXPECT_THAT(heard(20), ElementsAre(HasSubstr("no steps were recognised in 20 lines")));
  EXPECT_THAT(heard(5000), ElementsAre(HasSubstr("no steps were recognised in 1000 lines")));
  EXPECT_THAT(heard(5000, rules), IsEmpty()) << "somebody has said which lines are steps";
}

TEST(LogWatch, RulesAreChecked) {
  EXPECT_TRUE(check(rules[0]));
  EXPECT_THAT(check({"(", "load"}).error().what, HasSubstr("not an RE2 expression"));
  EXPECT_THAT(check({"(?P<los>x)", ""}).error().what, HasSubstr("did you mean 'loss'?"));
  EXPECT_THAT(check({"x(y)", ""}).error().what, HasSubstr("says nothing"));
  EXPECT_THAT(check({".*", "load"}).error().what, HasSubstr("every line"));
}

}  // namespace
}  // namespace trainward::foreign

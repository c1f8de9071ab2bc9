#include "supervisor/decide/view/sentence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "common/base/text.hpp"
#include "supervisor/decide/core/cause.hpp"

namespace trainward::views {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t now_ms = 1'763'675'000'000;
constexpr std::int64_t hour = 3'600'000;

json::object running() {
  return {{"name", "run"},
          {"state", "RUNNING"},
          {"reason", "training"},
          {"attempts", 1},
          {"attempt", 1},
          {"started_ms", now_ms - 3 * hour},
          {"last_step", 41'200},
          {"target_step", 50'000},
          {"loss", 2.31},
          {"changed_ms", now_ms - hour},
          {"effective_share", 0.872}};
}

TEST(SentenceOf, ARunThatGoesWell) {
  const Sentence sentence = sentence_of(running(), now_ms);
  EXPECT_EQ(sentence.text,
            "RUNNING for 3 h, step 41,200 of 50,000, loss 2.310, effective 87 %; nothing to do.");
  EXPECT_EQ(sentence.todo, "");
  EXPECT_EQ(sentence.need, Need::nothing);
  EXPECT_EQ(sentence.tone, core::Tone::good);
}

TEST(SentenceOf, WhatIsGivenUpNamesTheCommand) {
  json::object row = running();
  row["state"] = "FATAL";
  row["reason"] = "the disk is full.";
  row["cause"] = "disk";
  const Sentence sentence = sentence_of(row, now_ms);
  EXPECT_EQ(sentence.text,
            "FATAL for 1 h at step 41,200 of 50,000: the disk is full; your action is needed.");
  EXPECT_EQ(sentence.todo,
            "Free space on the disk that holds the checkpoints, then: trainwardctl start run");
  EXPECT_EQ(sentence.need, Need::must);
}

TEST(SentenceOf, TroubleOfTheDaemonComesBeforeAGoodState) {
  json::object row = running();
  row["trouble"] = "the database cannot be written: disk full";
  const Sentence sentence = sentence_of(row, now_ms);
  EXPECT_EQ(sentence.need, Need::must);
  EXPECT_EQ(sentence.tone, core::Tone::bad);
  EXPECT_THAT(sentence.todo, HasSubstr("the database cannot be written: disk full"));
}

// It is tried again, and somebody has to act all the same.
TEST(SentenceOf, WhatHoldsAProgramIsSaidInEveryStateThatGoesOn) {
  for (const core::Shown shown :
       {core::Shown::starting, core::Shown::running, core::Shown::backoff, core::Shown::stopping}) {
    for (const core::SnagFacts& snag : core::snags) {
      if (snag.snag == core::Snag::none) continue;
      json::object row = running();
      row["state"] = to_string(shown);
      row["snag"] = snag.name;
      row["snag_from_ms"] = now_ms;
      const Sentence sentence = sentence_of(row, now_ms);
      EXPECT_EQ(sentence.need, Need::must) << snag.name;
      EXPECT_EQ(sentence.tone, core::Tone::bad);
      EXPECT_THAT(sentence.text, HasSubstr(std::string(snag.words)));
      EXPECT_THAT(sentence.todo, HasSubstr("trainwardctl "));
      EXPECT_EQ(sentence_of(row, now_ms - 1).need, Need::nothing) << "not yet";
    }
  }
}

// What an attempt before has reached is not where this one is.
TEST(SentenceOf, AnAttemptBeforeItsFirstStepHasNone) {
  json::object row = running();
  row["attempt"] = 2;
  row["attempts"] = 2;
  row["first_step"] = 0;
  EXPECT_EQ(
      sentence_of(row, now_ms).text,
      "RUNNING for 3 h, no step yet, step 41,200 of 50,000 before, effective 87 %, attempt 2; "
      "nothing to do.");
  row["first_step"] = 41'201;
  EXPECT_THAT(sentence_of(row, now_ms).text, HasSubstr("step 41,200 of 50,000, loss 2.310"));
}

TEST(SentenceOf, HowLongItStillWaits) {
  EXPECT_EQ(sentence_of({{"state", "BACKOFF"},
                         {"attempts", 2},
                         {"changed_ms", now_ms - 39'000},
                         {"reason", "no board found"},
                         {"waits_until_ms", now_ms + 14'000}},
                        now_ms)
                .text,
            "BACKOFF for 39 s: no board found, next attempt in 14 s; nothing to do, trainwardd "
            "goes on by itself.");
}

TEST(SentenceOf, ThatItRunsOnASmallerMesh) {
  json::object row = running();
  row["smaller_mesh"] = "2x2 of 2x4";
  EXPECT_THAT(sentence_of(row, now_ms).text,
              HasSubstr("RUNNING for 3 h on a smaller mesh (2x2 of 2x4), step 41,200"));
}

TEST(SentenceOf, OthersStates) {
  EXPECT_EQ(sentence_of({{"name", "a b"}, {"state", "STOPPED"}, {"attempts", 0}}, now_ms).text,
            "STOPPED: not started yet; start it when you like.");
  EXPECT_EQ(sentence_of({{"name", "a b"}, {"state", "STOPPED"}, {"attempts", 0}}, now_ms).todo,
            "To go on: trainwardctl start 'a b'");
  EXPECT_EQ(sentence_of({{"state", "STOPPING"},
                         {"attempts", 2},
                         {"changed_ms", now_ms - 5000},
                         {"reason", "stopping: waiting for the worker to save and exit"}},
                        now_ms)
                .text,
            "STOPPING for 5 s: waiting for the worker to save and exit; nothing to do.");
  EXPECT_EQ(sentence_of({{"state", "FROZEN"}, {"attempts", 2}}, now_ms).text,
            "UNKNOWN: the state FROZEN is of another version; you may have to look.");
}

// Every state with every cause and any members missing: one whole line, safe to show, that says
// whether somebody has to act, and says what to do where it does.
void expect_whole(const json::object& row) {
  const Sentence sentence = sentence_of(row, now_ms);
  const std::string shown = json::serialize(row) + "\n" + sentence.text;
  ASSERT_FALSE(sentence.text.empty()) << shown;
  EXPECT_EQ(sentence.text.back(), '.') << shown;
  EXPECT_EQ(clean(sentence.text), sentence.text) << shown;
  EXPECT_EQ(clean(sentence.todo), sentence.todo) << shown;
  EXPECT_LT(sentence.text.size() + sentence.todo.size(), 8'000U) << shown;
  EXPECT_FALSE(sentence.glyph.empty());
  EXPECT_TRUE(sentence.ascii_glyph > ' ' && sentence.ascii_glyph < 0x7F);
  EXPECT_EQ(sentence.todo.empty(), sentence.need == Need::nothing) << shown;
  const bool says = sentence.text.find("nothing to do") != std::string::npos ||
                    (sentence.text.find("your action") != std::string::npos ||
                     sentence.text.find("you may") != std::string::npos ||
                     sentence.text.find("start it when you like") != std::string::npos);
  EXPECT_TRUE(says) << shown;
  const bool acts = sentence.text.find("your action is needed") != std::string::npos;
  EXPECT_EQ(acts, sentence.need == Need::must) << shown;
}

TEST(SentenceOf, SaysInEveryStateWhetherSomebodyHasToAct) {
  for (const core::ShownFacts& shown : core::shown_states) {
    for (const core::CauseFacts& cause : core::causes) {
      json::object row = running();
      row["state"] = shown.name;
      row["cause"] = cause.name;
      row["reason"] = cause.words;
      expect_whole(row);
      for (const auto& member : running()) {
        json::object lacks = row;
        lacks.erase(member.key());
        expect_whole(lacks);
        lacks[member.key()] = nullptr;
        expect_whole(lacks);
        lacks[member.key()] = json::array{1, "two"};
        expect_whole(lacks);
      }
    }
  }
  expect_whole({});
}

TEST(SentenceOf, IsWholeWhateverIsInTheRow) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::vector<std::string> texts{"",
                                       std::string("a\0b", 3),
                                       "\x1b[31mred\x1b[0m",
                                       "<img src=x onerror=alert(1)>",
                                       "'\"; rm -rf /",
                                       "\u202Eright to left",
                                       "\xff\xfe no text",
                                       std::string(1 << 20, 'x'),
                                       "RUNNING",
                                       "line\nline\r\n",
                                       "...."};
  const std::vector<std::int64_t> numbers{0, -1, 1, now_ms, INT64_MAX / 2, INT64_MIN / 2};
  const auto pick = [&](const auto& list) { return list[random() % list.size()]; };
  for (int i = 0; i < 500; ++i) {
    json::object row = running();
    row["state"] = pick(core::shown_states).name;
    row["trouble"] = nullptr;
    row["cause"] = nullptr;
    for (auto& member : row) {
      const auto dice = random() % 6;
      if (dice == 0) member.value() = pick(texts);
      if (dice == 1) member.value() = pick(numbers);
      if (dice == 2) member.value() = nullptr;
    }
    expect_whole(row);
    if (HasFailure()) return;
  }
}

TEST(ToldOf, ProblemsComeFirst) {
  const json::array rows{json::object{{"name", "a"}, {"state", "RUNNING"}},
                         json::object{{"name", "b"}, {"state", "STOPPED"}},
                         json::object{{"name", "z"}, {"state", "FATAL"}}, "no row",
                         json::object{{"name", "c"}, {"state", "UNKILLABLE"}}};
  const std::vector<Told> programs = told_of(rows, now_ms);
  std::vector<std::string> names;
  for (const Told& told : programs) names.push_back(told.name);
  EXPECT_THAT(names, ElementsAre("c", "z", "b", "a"));
  EXPECT_EQ(headline_of(programs),
            "4 programs; 2 need attention; 1 is stopped until you start it.");
  EXPECT_EQ(headline_of({}), "No program is configured.");
  EXPECT_EQ(headline_of(told_of({json::object{{"state", "EXITED"}}}, now_ms)),
            "1 program; nothing to do.");
}

TEST(CommandOf, IsQuotedAsAShellNeedsIt) {
  EXPECT_EQ(command_of("start", "run-1.a_b"), "trainwardctl start run-1.a_b");
  EXPECT_EQ(command_of("start", "it's"), "trainwardctl start 'it'\\''s'");
  EXPECT_EQ(command_of("start", "-x"), "trainwardctl start '-x'");
  EXPECT_EQ(command_of("start", ""), "trainwardctl start ''");
}

}  // namespace
}  // namespace trainward::views

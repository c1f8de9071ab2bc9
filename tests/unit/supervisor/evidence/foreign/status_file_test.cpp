// Status files as scripts leave them: whole, half, wrong, and the same again.
#include "supervisor/evidence/foreign/status_file.hpp"

#include <gmock/gmock.h>

#include <random>

#include "words.hpp"

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// As AGILLM-3 writes it.
std::string seed_status(int step, double updated, const std::string& loss = "3.25") {
  return fmt::format(
      R"({{"step": {}, "seen_tok": {}, "loss": {}, "batch": 1, "block": 64, "tok_per_sec": 0.067, )"
      R"("phase": "pretrain", "updated": {}, "target_tok": 35737600000, "backend": "n300"}})",
      step, step * 64, loss, updated);
}

TEST(StatusFile, TellsOfEachStepOnce) {
  StatusFile file{StatusKeys{}};
  EXPECT_THAT(words(file.read(seed_status(1, 100))), ElementsAre("step 1 3.25 64"));
  EXPECT_THAT(file.read(seed_status(1, 100)), IsEmpty());
  EXPECT_THAT(words(file.read(seed_status(2, 101))), ElementsAre("step 2 3.25 128"));
}

TEST(StatusFile, ReadsTheSpeedAndOtherKeys) {
  StatusFile file{StatusKeys{"n", "l", "t", "p", "s", "u"}};
  const Events events = file.read(R"({"n": 12.0, "l": 2, "t": 99, "p": "train", "s": 1.5})");
  EXPECT_THAT(words(events), ElementsAre("phase train", "step 12 2 99"));
  EXPECT_EQ(std::get<core::StepDone>(events[1]).figures.tokens_per_second, 1.5);
}

TEST(StatusFile, ALossThatIsNoNumberIsToldAsWhatItIs) {
  StatusFile file{StatusKeys{}};
  EXPECT_THAT(words(file.read(seed_status(1, 1, "NaN"))), ElementsAre("step 1 nan 64"));
  EXPECT_THAT(words(file.read(seed_status(2, 2, "-Infinity"))), ElementsAre("step 2 -inf 128"));
  // The words inside a text stay text.
  EXPECT_THAT(words(file.read(R"({"note": "\"NaN", "step": 3, "loss": 1})")),
              ElementsAre("step 3 1 -"));
}

TEST(StatusFile, OnlyAClockThatMovesOnIsLife) {
  StatusFile file{StatusKeys{}};
  file.read(seed_status(5, 100));
  EXPECT_THAT(words(file.read(seed_status(5, 101))), ElementsAre("alive"));
  EXPECT_THAT(file.read(seed_status(5, 99)), IsEmpty()) << "an old report";
  EXPECT_THAT(file.read(seed_status(4, 100)), IsEmpty()) << "steps do not go back";
  // The clock was set back; a new step is a new step.
  EXPECT_THAT(words(file.read(seed_status(6, 50))), ElementsAre("step 6 3.25 384"));
}

TEST(StatusFile, WhatIsHalfWrittenOrWrongGivesNothing) {
  const std::string whole = seed_status(7, 100);
  for (std::size_t length = 0; length < whole.size(); ++length) {
    StatusFile file{StatusKeys{}};
    EXPECT_THAT(file.read(whole.substr(0, length)), IsEmpty()) << length;
    EXPECT_EQ(file.read(whole).size(), 1U);
  }
  StatusFile file{StatusKeys{}};
  for (const std::string& text :
       {std::string("[1]"), std::string("7"), std::string(R"({"step": "7"})"),
        std::string(R"({"step": -7})"), std::string(R"({"step": 7.5})"),
        std::string(R"({"step": 1e300})"), std::string(R"({"step": 0})"),
        std::string(R"({"step": NaN})"), std::string("\0\x80\xff", 3), std::string(100'000, '['),
        std::string(max_status_bytes + 1, ' '), R"({"x": ")" + std::string(1000, 'x')}) {
    EXPECT_THAT(file.read(text), IsEmpty()) << text.substr(0, 40);
  }
  EXPECT_EQ(file.read(whole).size(), 1U);
}

TEST(StatusFile, SurvivesRandomDamage) {
  std::mt19937 random(7);
  for (int round = 0; round < 5000; ++round) {
    StatusFile file{StatusKeys{}};
    std::string text = seed_status(9, 100);
    for (int i = 0; i < 4; ++i) text[random() % text.size()] = static_cast<char>(random());
    file.read(text);
  }
}

}  // namespace
}  // namespace trainward::foreign

// Programs that find by themselves where to go on, and numbers that nobody told.
#include <gmock/gmock.h>

#include "fixture.hpp"

namespace trainward::store {
namespace {

class OwnPlaceTest : public StoreTest {
 protected:
  OwnPlaceTest() { must(store_.put_program({"trainer", "RUNNING", "", "d", "{}", epoch_ms, 0})); }

  // Its steps are every `stride`-th from `first` to `last`; none when first is 0. "": it runs.
  void attempt_of(std::int64_t number, std::int64_t first, std::int64_t last,
                  const std::string& cause, std::int64_t stride = 1, std::int64_t kept = 0) {
    AttemptRow row = attempt(number, 0, first, last, kept);
    row.told_to_resume = false;
    row.cause = cause;
    if (!cause.empty()) row.ended_ms = row.started_ms + 1'000;
    must(store_.put_attempt(row));
    for (std::int64_t step = first; first > 0 && step <= last; step += stride) {
      StepRow told;
      told.step = step;
      told.attempt = number;
      told.at_ms = epoch_ms + step;
      must(store_.add_step("trainer", told));
    }
  }
  // "resume kept lost replayed" of each attempt; "-": not known.
  std::vector<std::string> booked() const {
    std::vector<std::string> out;
    for (const json::value& value : must(store_.history_json("trainer"))) {
      std::string text;
      for (const char* key : {"resume_step", "steps_kept", "steps_lost", "steps_replayed"}) {
        const json::value& number = value.at(key);
        text += (text.empty() ? "" : " ") +
                (number.is_null() ? "-" : std::to_string(number.as_int64()));
      }
      out.push_back(text);
    }
    return out;
  }

  Store store_ = open();
};

using testing::ElementsAre;

TEST_F(OwnPlaceTest, WhatWasLostShowsInTheFirstStepOfTheNextAttempt) {
  attempt_of(1, 1, 30, "crash");
  EXPECT_THAT(booked(), ElementsAre("0 - - 0"));
  attempt_of(2, 0, 0, "");
  EXPECT_THAT(booked(), ElementsAre("0 - - 0", "- - 0 0")) << "it has not come to a step";
  attempt_of(2, 21, 25, "");
  EXPECT_THAT(booked(), ElementsAre("0 20 10 0", "20 - 0 5"));
  attempt_of(2, 21, 50, "done");
  EXPECT_THAT(booked(), ElementsAre("0 20 10 0", "20 30 0 10"));
}

TEST_F(OwnPlaceTest, AnAttemptWithoutAStepDecidesNothing) {
  attempt_of(1, 1, 30, "hang");
  attempt_of(2, 0, 0, "crash");
  attempt_of(3, 31, 40, "");
  EXPECT_THAT(booked(), ElementsAre("0 30 0 0", "- - - 0", "30 - 0 0"));
}

TEST_F(OwnPlaceTest, WhatIsLostTwiceIsCountedTwice) {
  attempt_of(1, 1, 30, "crash");
  attempt_of(2, 21, 25, "crash");
  attempt_of(3, 11, 12, "");
  EXPECT_THAT(booked(), ElementsAre("0 20 10 0", "20 0 15 5", "10 - 0 2"));
}

TEST_F(OwnPlaceTest, NothingIsLostByACleanEnd) {
  attempt_of(1, 1, 30, "done");
  EXPECT_THAT(booked(), ElementsAre("0 30 0 0"));
  attempt_of(2, 1, 10, "crash");
  attempt_of(3, 6, 7, "");
  EXPECT_THAT(booked(), ElementsAre("0 30 0 0", "0 5 5 0", "5 - 0 2"));
}

TEST_F(OwnPlaceTest, ACheckpointThatWasSeenIsKeptWhateverIsToCome) {
  attempt_of(1, 1, 30, "crash", 1, 20);
  EXPECT_THAT(booked(), ElementsAre("0 20 - 0"));
}

// It goes on from step 1000, and the first that it tells of is 1100.
TEST_F(OwnPlaceTest, AProgramThatTellsOfEveryHundredthStep) {
  attempt_of(1, 100, 1'700, "crash", 100);
  attempt_of(2, 1'100, 1'100, "");
  EXPECT_THAT(booked(), ElementsAre("0 1000 700 0", "1099 - 0 1"));
  attempt_of(2, 1'100, 1'900, "", 100);
  EXPECT_THAT(booked(), ElementsAre("0 1000 700 0", "1000 - 0 700"));
}

// A status file is looked at now and then.
TEST_F(OwnPlaceTest, StepsThatAreSeenByChanceAreTakenAsTheyAre) {
  attempt_of(1, 3, 21, "crash", 9);
  attempt_of(2, 26, 35, "", 9);
  EXPECT_THAT(booked(), ElementsAre("2 19 0 0", "25 - 0 0"));
}

TEST_F(OwnPlaceTest, TheReportSaysOfHowManyAttemptsItIsNotKnown) {
  attempt_of(1, 1, 30, "crash");
  auto report = must(store_.report_json("trainer"));
  EXPECT_TRUE(report.at("steps_lost").is_null());
  EXPECT_TRUE(report.at("steps_kept").is_null());
  EXPECT_EQ(report.at("attempts_with_unknown_loss").as_int64(), 1);
  attempt_of(2, 21, 40, "crash");
  report = must(store_.report_json("trainer"));
  EXPECT_EQ(report.at("steps_lost").as_int64(), 10);
  EXPECT_EQ(report.at("steps_kept").as_int64(), 20);
  EXPECT_EQ(report.at("attempts_with_unknown_loss").as_int64(), 1);
  EXPECT_TRUE(must(store_.why_json("trainer", 2)).at("attempt").at("steps_lost").is_null());
}

TEST_F(OwnPlaceTest, WhatNobodyToldIsNull) {
  attempt_of(1, 1, 3, "");
  const auto status = [&](const char* key) {
    return must(store_.status_json(Time{})).at(0).at(key);
  };
  for (const char* key : {"first_loss", "loss", "tokens", "tokens_per_second"}) {
    EXPECT_TRUE(status(key).is_null()) << key;
  }
  EXPECT_EQ(status("last_step").as_int64(), 3);
  auto report = must(store_.report_json("trainer"));
  for (const char* key : {"first_loss", "last_loss", "best_loss", "tokens", "tokens_per_second"}) {
    EXPECT_TRUE(report.at(key).is_null()) << key;
  }
  // A line in ten tells more than its step.
  must(store_.add_step("trainer", {{2.5, {}, {}, 640, 12.5}, 2, 1, epoch_ms, false}));
  EXPECT_EQ(status("loss").as_double(), 2.5);
  EXPECT_EQ(status("first_loss").as_double(), 2.5);
  EXPECT_EQ(status("tokens").as_int64(), 640);
  EXPECT_EQ(status("tokens_per_second").as_double(), 12.5);
  report = must(store_.report_json("trainer"));
  EXPECT_EQ(report.at("best_loss").as_double(), 2.5);
}

}  // namespace
}  // namespace trainward::store

#include <gtest/gtest.h>

#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/remedy.hpp"
#include "supervisor/decide/view/attempt_view.hpp"

namespace trainward::views {
namespace {

TEST(AttemptWords, EveryCauseAndRemedyHasWords) {
  for (const core::CauseFacts& row : core::causes) {
    EXPECT_FALSE(cause_words(row.name).empty()) << row.name;
  }
  for (const core::RemedyFacts& row : core::remedies) EXPECT_EQ(remedy_words(row.name), row.words);
  EXPECT_EQ(remedy_words(""), "nothing");
  EXPECT_EQ(cause_words("stopped"), "it was asked to");
  EXPECT_EQ(cause_words("cosmic\nrays"), "a cause of another version, cosmic rays");
}

TEST(AttemptWords, OneThatRunsIsToldFromOneThatEnded) {
  EXPECT_EQ(cause_name({{"cause", ""}, {"ended_at", nullptr}}), "running");
  EXPECT_EQ(cause_name({{"cause", ""}, {"ended_at", "2025-11-20T21:43:20.123Z"}}), "unknown");
  EXPECT_EQ(cause_name({{"cause", "hang"}, {"ended_at", "2025-11-20T21:43:20.123Z"}}), "hang");
}

TEST(AttemptWords, EndsThatAreNoFaultAreNotToldAsOne) {
  for (const core::CauseFacts& row : core::causes) {
    const core::Tone expected = row.cause == core::Cause::done ? core::Tone::good
                                : core::is_fault(row.cause)    ? core::Tone::bad
                                                               : core::Tone::quiet;
    EXPECT_EQ(tone_of(row.name), expected) << row.name;
  }
  EXPECT_EQ(tone_of("running"), core::Tone::good);
  EXPECT_EQ(tone_of("a cause of another version"), core::Tone::bad);
  EXPECT_EQ(tone_of("verified"), core::Tone::good);
  EXPECT_EQ(tone_of("pruned"), core::Tone::quiet);
  EXPECT_EQ(tone_of("DEGRADED"), core::Tone::changing);
}

TEST(AttemptWords, WhatWasLost) {
  const json::value ended = "2025-11-20T21:43:20.123Z";
  EXPECT_EQ(lost_words({{"ended_at", ended}, {"steps_lost", 1}}), "1 step lost");
  EXPECT_EQ(lost_words({{"ended_at", ended}, {"steps_lost", 4100}}), "4,100 steps lost");
  EXPECT_EQ(lost_words({{"ended_at", ended}, {"steps_lost", 0}}), "nothing lost");
  EXPECT_EQ(lost_words({{"ended_at", ended}, {"steps_lost", nullptr}}),
            "what was lost is not known yet");
  EXPECT_EQ(lost_words({}), "nothing lost yet");
}

TEST(AttemptWords, SerialsAreCutAtTheirBeginning) {
  EXPECT_EQ(short_serial(""), "-");
  EXPECT_EQ(short_serial("1234567"), "1234567");
  EXPECT_EQ(short_serial("0100014511732028"), "…732028");
}

}  // namespace
}  // namespace trainward::views

// For how long an end is held up.
#include "supervisor/daemon/courier/departure.hpp"

#include <gtest/gtest.h>

namespace trainward::daemon {
namespace {

constexpr std::int64_t minute_ms = 60'000;

orders::Left left(std::int64_t done, std::int64_t read = 0) {
  return {{{"upload run/box", done, 100, ""}}, read};
}

TEST(DepartureWait, WithoutAnyProgressItIsShort) {
  DepartureWait wait({0}, 10 * minute_ms);
  EXPECT_EQ(wait.ends(), MonoTime{DepartureWait::silence_ms});
  for (std::int64_t at = 1'000; at < 20'000; at += 1'000) wait.heard(left(0), {at});
  EXPECT_EQ(wait.ends(), MonoTime{1'000 + DepartureWait::silence_ms}) << "hearing of it is some";
}

TEST(DepartureWait, WhatGetsOnIsWaitedForAndNotLongerThanThat) {
  DepartureWait wait({0}, minute_ms);
  std::int64_t done = 0;
  for (std::int64_t at = 0; at < minute_ms; at += 10'000) {
    wait.heard(left(++done), {at});
    EXPECT_GT(wait.ends(), MonoTime{at});
  }
  EXPECT_EQ(wait.ends(), MonoTime{minute_ms});
}

// Digests of a large file are taken before a byte of it leaves.
TEST(DepartureWait, ReadingMuchIsProgressAndReadingRecordsIsNone) {
  DepartureWait wait({0}, 10 * minute_ms);
  wait.heard(left(0, 0), {0});
  wait.heard(left(0, 100'000'000), {10'000});
  EXPECT_EQ(wait.ends(), MonoTime{10'000 + DepartureWait::silence_ms});
  wait.heard(left(0, 100'200'000), {11'000});
  EXPECT_EQ(wait.ends(), MonoTime{10'000 + DepartureWait::silence_ms});
}

TEST(DepartureWait, OneThatIsDoneIsProgress) {
  DepartureWait wait({0}, 10 * minute_ms);
  wait.heard({{{"a", 0, 0, ""}, {"b", 0, 0, ""}}, 0}, {0});
  wait.heard({{{"b", 0, 0, ""}}, 0}, {15'000});
  EXPECT_EQ(wait.ends(), MonoTime{15'000 + DepartureWait::silence_ms});
}

TEST(DepartureWait, ASignalLeavesWhatIsLeftOfTheTimeToStop) {
  DepartureWait wait({0}, 10 * minute_ms);
  wait.until({5'000});
  wait.until({7'000});
  EXPECT_EQ(wait.ends(), MonoTime{5'000});
}

}  // namespace
}  // namespace trainward::daemon

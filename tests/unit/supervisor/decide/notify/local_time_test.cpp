// Clocks on the wall: digests at the right minute, quiet hours over midnight, changes of the
// clocks.
#include "supervisor/decide/notify/local_time.hpp"

#include <gtest/gtest.h>

#include "times.hpp"

namespace trainward::notify {
namespace {

// One hour ahead of UTC, and two from `from` until `until`.
Zone summer(std::int64_t from, std::int64_t until) {
  return [=](std::int64_t at) { return at >= from && at < until ? 2 * hour_ms : hour_ms; };
}
const Zone winter = summer(0, 0);

TEST(LocalTime, TheNextEightOClockIsTodayOrTomorrow) {
  EXPECT_EQ(next_at(8 * 60, midnight, winter), midnight + 7 * hour_ms);
  EXPECT_EQ(next_at(8 * 60, midnight + 7 * hour_ms, winter), midnight + 31 * hour_ms);
  EXPECT_EQ(next_at(8 * 60, midnight + 7 * hour_ms - 1, winter), midnight + 7 * hour_ms);
}

TEST(LocalTime, ADayWithAnHourLessHasItsEightOClockToo) {
  const std::int64_t change = midnight + hour_ms;  // 02:00 local becomes 03:00
  const Zone zone = summer(change, change + 100 * day_ms);
  const std::int64_t at = next_at(8 * 60, midnight, zone);
  EXPECT_EQ(minute_of_day(at, zone), 8 * 60);
  EXPECT_EQ(at, midnight + 6 * hour_ms);
}

TEST(LocalTime, ADayWithAnHourMoreHasItOnce) {
  const std::int64_t change = midnight + hour_ms;  // 03:00 local becomes 02:00
  const Zone zone = summer(midnight - 100 * day_ms, change);
  std::int64_t at = midnight - hour_ms;
  for (int day = 0; day < 5; ++day) {
    const std::int64_t next = next_at(8 * 60, at, zone);
    EXPECT_GT(next, at);
    EXPECT_LE(next - at, 26 * hour_ms);
    EXPECT_EQ(minute_of_day(next, zone), 8 * 60);
    at = next;
  }
}

TEST(LocalTime, QuietHoursGoOverMidnight) {
  const Quiet night{22 * 60, 7 * 60};
  EXPECT_TRUE(is_quiet(night, midnight + 21 * hour_ms, winter));   // 22:00 local
  EXPECT_TRUE(is_quiet(night, midnight, winter));                  // 01:00
  EXPECT_FALSE(is_quiet(night, midnight + 6 * hour_ms, winter));   // 07:00
  EXPECT_FALSE(is_quiet(night, midnight + 20 * hour_ms, winter));  // 21:00
  const Quiet noon{12 * 60, 13 * 60};
  EXPECT_TRUE(is_quiet(noon, midnight + 11 * hour_ms, winter));
  EXPECT_FALSE(is_quiet(noon, midnight + 12 * hour_ms, winter));
  EXPECT_FALSE(is_quiet({}, midnight, winter)) << "from midnight to midnight is never";
}

TEST(LocalTime, WhatWaitsIsToldAfterTheDigestOrTheNight) {
  Policy policy;
  const std::int64_t night = midnight;  // 01:00 local
  EXPECT_EQ(unhurried(policy, night, winter), night) << "no quiet hours";
  policy.quiet = {22 * 60, 7 * 60};
  EXPECT_EQ(unhurried(policy, night, winter), midnight + 7 * hour_ms + after_digest_ms);
  // The digest comes in the night: what happens after it would wait for a day.
  policy.quiet = {22 * 60, 9 * 60};
  EXPECT_EQ(unhurried(policy, midnight + 6 * hour_ms, winter),
            midnight + 7 * hour_ms + after_digest_ms);
  EXPECT_EQ(unhurried(policy, midnight + 7 * hour_ms + 1, winter), midnight + 8 * hour_ms);
  policy.quiet = {22 * 60, 7 * 60};
  policy.digest = 18 * 60;
  EXPECT_EQ(unhurried(policy, night, winter), midnight + 6 * hour_ms) << "not until the evening";
  policy.digest.reset();
  EXPECT_EQ(unhurried(policy, night, winter), midnight + 6 * hour_ms);
  EXPECT_EQ(unhurried(policy, midnight + 12 * hour_ms, winter), midnight + 12 * hour_ms);
}

}  // namespace
}  // namespace trainward::notify

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "supervisor/courier/net/http_retry.hpp"

namespace trainward::net {
namespace {

constexpr std::int64_t now_ms = 784'111'777'000;  // Sun, 06 Nov 1994 08:49:37 GMT

std::optional<std::int64_t> wait(std::vector<Header> headers) {
  return asked_to_wait_ms({.status = 429, .headers = std::move(headers), .body = ""}, now_ms);
}

TEST(Retry, WhatMayBeTakenLater) {
  for (const int status : {408, 425, 429, 500, 502, 503, 504, 599}) {
    EXPECT_TRUE(may_be_retried(status)) << status;
  }
  for (const int status : {200, 301, 400, 401, 403, 404, 409, 412, 422, 600}) {
    EXPECT_FALSE(may_be_retried(status)) << status;
  }
}

// A second is added to each: servers round down.
TEST(Retry, AsksAsTheServerSays) {
  EXPECT_EQ(wait({}), std::nullopt);
  EXPECT_EQ(wait({{"retry-after", "120"}}), 121'000);
  EXPECT_EQ(wait({{"retry-after", " 0 "}}), 1'000);
  EXPECT_EQ(wait({{"retry-after", "Sun, 06 Nov 1994 08:50:37 GMT"}}), 61'000);
  EXPECT_EQ(wait({{"retry-after", "Sun, 06 Nov 1994 08:00:00 GMT"}}), 1'000) << "in the past";
  EXPECT_EQ(wait({{"ratelimit", "\"api\";r=0;t=55"}}), 56'000);
  EXPECT_EQ(wait({{"ratelimit", "\"api\";r=3;t=55"}}), std::nullopt);
  EXPECT_EQ(wait({{"ratelimit", "\"pages\";r=9;t=99, \"api\"; r=0; t=7"}}), 8'000);
  EXPECT_EQ(wait({{"retry-after", "2"}, {"ratelimit", "\"api\";r=0;t=55"}}), 56'000);
}

TEST(Retry, AWrongClockHereDoesNotMatter) {
  EXPECT_EQ(wait({{"date", "Tue, 01 Jan 2030 00:00:00 GMT"},
                  {"retry-after", "Tue, 01 Jan 2030 00:00:30 GMT"}}),
            31'000);
}

TEST(Retry, NoMoreThanADayAndNothingOfWhatIsNoTime) {
  constexpr std::int64_t day_ms = 86'400'000;
  EXPECT_EQ(wait({{"retry-after", "99999999999"}}), day_ms);
  EXPECT_EQ(wait({{"ratelimit", "\"api\";r=0;t=9223372036854775807"}}), day_ms);
  EXPECT_EQ(wait({{"retry-after", "Sun, 06 Nov 2094 08:49:37 GMT"}}), day_ms);
  for (const char* text : {"", "-1", "soon", "1.5", "99999999999999999999",
                           "Sun, 06 Now 1994 08:49:37 GMT", "Sun, 06 Nov 1994 25:49:37 GMT"}) {
    EXPECT_EQ(wait({{"retry-after", text}}), std::nullopt) << text;
  }
}

TEST(Retry, AnythingMayStandInAHeader) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  const std::string letters = "0123456789;=,rt\" -GMTSunNov:";
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random() % 40, ' ');
    for (char& c : text) c = letters[random() % letters.size()];
    const auto asked = wait({{"retry-after", text}, {"ratelimit", text}, {"date", text}});
    if (asked) {
      EXPECT_GE(*asked, 0);
      EXPECT_LE(*asked, 86'400'000);
    }
  }
}

TEST(Retry, PausesDoubleWithinTheirBounds) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Backoff backoff(seed);
    std::int64_t plain = 5'000;
    for (int tries = 1; tries < 40; ++tries) {
      const std::int64_t pause = backoff.pause_ms(tries);
      EXPECT_GE(pause, plain - plain / 4);
      EXPECT_LE(pause, plain + plain / 4);
      plain = std::min<std::int64_t>(plain * 2, 900'000);
    }
  }
  EXPECT_NE(Backoff(1).pause_ms(5), Backoff(2).pause_ms(5)) << "not all at the same time";
}

}  // namespace
}  // namespace trainward::net

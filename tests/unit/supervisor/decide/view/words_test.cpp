#include "supervisor/decide/view/words.hpp"

#include <gtest/gtest.h>

#include "common/base/time.hpp"

namespace trainward::views {
namespace {

TEST(ViewWords, SpansAreWholeUnits) {
  EXPECT_EQ(span(-5), "a moment");
  EXPECT_EQ(span(42'000), "42 s");
  EXPECT_EQ(span(3 * 60'000 + 59'000), "3 min");
  EXPECT_EQ(span(26 * 3'600'000LL), "26 h");
  EXPECT_EQ(span(50 * 3'600'000LL), "2 d");
  EXPECT_EQ(age(999), "just now");
  EXPECT_EQ(age(1000), "1 s ago");
}

TEST(ViewWords, ATimeIsReadAsItWasWritten) {
  for (const std::int64_t ms : {0LL, 1LL, 951'782'399'999LL, 951'782'400'000LL, 951'868'800'123LL,
                                1'763'675'000'123LL, 4'102'444'799'999LL}) {
    EXPECT_EQ(wall_ms_of(iso8601(ms)), ms) << iso8601(ms);
  }
  EXPECT_EQ(utc_text(1'763'675'000'123), "2025-11-20 21:43:20 UTC");
}

TEST(ViewWords, WhatIsNoTimeIsNone) {
  for (const char* text :
       {"", "yesterday", "2025-11-20T21:43:20", "2025-11-20T21:43:20+01:00", "2025-13-20T21:43:20Z",
        "2025-02-30T21:43:20Z", "2025-11-20T24:43:20Z", "2025-11-20T21:43:2Z",
        "2025-11-20 21:43:20Z", "-025-11-20T21:43:20Z", "2025-11-20T21:43:20.Z "}) {
    EXPECT_FALSE(wall_ms_of(text).has_value()) << text;
  }
}

TEST(ViewWords, WhatOthersSayFitsIntoASentence) {
  EXPECT_EQ(said("  it broke.\n"), "it broke");
  EXPECT_EQ(said("a\nb\x1b[31mc"), "a b?[31mc");
  EXPECT_EQ(said("..."), "");
  EXPECT_EQ(said("abcdef", 4), "abc…");
}

}  // namespace
}  // namespace trainward::views

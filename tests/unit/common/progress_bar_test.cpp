#include "common/terminal/progress_bar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/terminal/display_text.hpp"

namespace trainward {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint64_t mib = 1U << 20U;
constexpr std::uint64_t gib = 1U << 30U;

TEST(ProgressLine, SaysEverythingWhenThereIsRoom) {
  EXPECT_EQ(progress_line({"verifying", gib, 4 * gib, 512.0 * mib}, 90),
            "verifying  [=======>                      ]   25 %  1.00 of 4.00 GiB  512 MiB/s  "
            "0:06 left");
}

TEST(ProgressLine, NeverWiderThanTheTerminal) {
  for (std::size_t width = 0; width < 130; ++width) {
    const auto line = progress_line({"setting ä aside", gib, 3 * gib, 300.0 * mib}, width);
    EXPECT_LE(display_width(line), width) << line;
  }
}

TEST(ProgressLine, LetsGoOfTheLeastImportantFirst) {
  const Measure measure{"verifying", gib, 4 * gib, 512.0 * mib};
  EXPECT_EQ(progress_line(measure, 46), "verifying   25 %  1.00 of 4.00 GiB  0:06 left");
  EXPECT_EQ(progress_line(measure, 35), "verifying   25 %  1.00 of 4.00 GiB");
  EXPECT_EQ(progress_line(measure, 30), "verifying  [==>       ]   25 %");
  EXPECT_EQ(progress_line(measure, 17), "verifying   25 %");
  EXPECT_EQ(progress_line(measure, 5), "veri…");
}

TEST(ProgressLine, TheEndsOfTheScale) {
  EXPECT_THAT(progress_line({"x", 0, 0, 0}, 60), HasSubstr("  0 %  0 of 0 B"));
  EXPECT_THAT(progress_line({"x", 999, 1000, 10}, 60), HasSubstr(" 99 %  999 of 1000 B"));
  const auto full = progress_line({"x", 5 * mib, 4 * mib, 1}, 60);
  EXPECT_THAT(full, HasSubstr("=]  100 %  4 of 4 MiB"));
  EXPECT_THAT(full, Not(HasSubstr("left")));
  EXPECT_THAT(progress_line({"x", 1, 1ULL << 62U, 1}, 90), Not(HasSubstr("left")));
  EXPECT_THAT(progress_line({"x", gib, 100 * gib, 10.0 * mib}, 90), HasSubstr("2:48:58 left"));
}

TEST(ProgressLine, ANameCannotDriveTheTerminal) {
  EXPECT_THAT(progress_line({"a\x1b[2Jb", 1, 2, 0}, 60), StartsWith("a?[2Jb"));
}

TEST(ProgressBar, ComesAfterASecondAndNotTooOften) {
  const ProgressBar::Time start{};
  ProgressBar bar("verifying", start);
  EXPECT_FALSE(bar.update(start + milliseconds(999), gib, 4 * gib, 80));
  EXPECT_EQ(bar.clear(), "") << "nothing was drawn";
  const auto first = bar.update(start + seconds(1), gib, 4 * gib, 80);
  ASSERT_TRUE(first);
  EXPECT_THAT(*first, StartsWith("\rverifying"));
  EXPECT_THAT(*first, HasSubstr("1.00 GiB/s"));
  EXPECT_THAT(*first, testing::EndsWith("\x1b[K"));
  EXPECT_FALSE(bar.update(start + milliseconds(1050), gib, 4 * gib, 80));
  EXPECT_TRUE(bar.update(start + milliseconds(1100), gib, 4 * gib, 80));
  EXPECT_EQ(bar.clear(), "\r\x1b[K");
  EXPECT_EQ(bar.clear(), "") << "it is gone";
}

TEST(ProgressBar, TheRateFollowsSlowly) {
  const ProgressBar::Time start{};
  ProgressBar bar("x", start);
  ASSERT_TRUE(bar.update(start + seconds(1), 300 * mib, gib, 80));
  const auto stalled = bar.update(start + seconds(2), 300 * mib, gib, 80);
  ASSERT_TRUE(stalled);
  EXPECT_THAT(*stalled, HasSubstr("200 MiB/s"));
}

}  // namespace
}  // namespace trainward

#include "supervisor/window/page/plot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace trainward::page {
namespace {

using testing::ElementsAre;

TEST(PlotMarks, AreRound) {
  EXPECT_THAT(marks(0, 10, 5), ElementsAre(0, 2, 4, 6, 8, 10));
  EXPECT_THAT(marks(1, 41'200, 5), ElementsAre(10'000, 20'000, 30'000, 40'000));
  EXPECT_THAT(marks(3, 3, 5), ElementsAre(3));
}

TEST(PlotMarks, AreFewAndWithinWhateverTheScale) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 2'000; ++i) {
    const double from = std::ldexp(static_cast<double>(random() % 1000) - 500,
                                   static_cast<int>(random() % 80) - 40);
    const double to = from + std::ldexp(static_cast<double>(random() % 1000 + 1),
                                        static_cast<int>(random() % 80) - 40);
    const auto found = marks(from, to, 6);
    ASSERT_LE(found.size(), 8U) << from << " " << to;
    for (const double mark : found) {
      EXPECT_GE(mark, from - (to - from) * 1e-6 - std::abs(from) * 1e-12);
      EXPECT_LE(mark, to + (to - from) * 1e-6 + std::abs(to) * 1e-12);
    }
  }
  EXPECT_FALSE(marks(0, std::numeric_limits<double>::infinity(), 5).empty());
  EXPECT_FALSE(marks(std::nan(""), 1, 5).empty());
}

TEST(PlotScale, StaysInTheDrawing) {
  const Scale scale{10, 20, 100, 0};
  EXPECT_EQ(scale(10), 100);
  EXPECT_EQ(scale(15), 50);
  EXPECT_EQ(scale(-1e300), 100);
  EXPECT_EQ(scale(1e300), 0);
  EXPECT_EQ((Scale{5, 5, 0, 10}(5)), 5);
}

}  // namespace
}  // namespace trainward::page

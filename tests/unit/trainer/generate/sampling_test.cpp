// How the next token is chosen.
#include "trainer/generate/sampling.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace trainward::trainer {
namespace {

// How often each token is chosen when the random numbers are spread evenly.
std::map<std::int32_t, double> shares(const std::vector<float>& logits, const Sampling& sampling) {
  std::map<std::int32_t, double> found;
  constexpr int draws = 10000;
  for (int i = 0; i < draws; ++i) {
    found[sample(logits, sampling, (i + 0.5) / draws)] += 1.0 / draws;
  }
  return found;
}

TEST(Sampling, FollowsTheSoftmax) {
  const std::vector<float> logits{1, 3, -1, 2};
  for (const double temperature : {0.5, 1.0, 2.0}) {
    double total = 0;
    for (const float l : logits) total += std::exp(l / temperature);
    const auto found = shares(logits, {temperature, 0, 1});
    for (std::int32_t i = 0; i < 4; ++i) {
      const double expected = std::exp(logits[static_cast<std::size_t>(i)] / temperature) / total;
      EXPECT_NEAR(found.at(i), expected, 2e-4) << i;
    }
  }
}

TEST(Sampling, GreedyTakesTheFirstOfTheLikeliest) {
  EXPECT_EQ(sample(std::vector<float>{1, 5, 5, 2}, {0, 0, 1}, 0.999), 1);
}

TEST(Sampling, TopKAndTopPLeaveOutTheRest) {
  const std::vector<float> logits{0, 4, 1, 3, 2};
  EXPECT_EQ(shares(logits, {1, 2, 1}).size(), 2U);
  EXPECT_EQ(shares(logits, {1, 1, 1}),
            (std::map<std::int32_t, double>{{1, shares(logits, {1, 1, 1})[1]}}));
  EXPECT_EQ(shares(logits, {1, 99, 1}).size(), 5U);
  // Shares: 0.636, 0.234, 0.086, 0.032, 0.012.
  EXPECT_EQ(shares(logits, {1, 0, 0.6}).size(), 1U);
  EXPECT_EQ(shares(logits, {1, 0, 0.7}).size(), 2U);
  EXPECT_EQ(shares(logits, {1, 0, 0.9}).size(), 3U);
  EXPECT_EQ(shares(logits, {1, 0, 0}).size(), 1U);
}

TEST(Sampling, OddNumbersChooseSomethingThatIsThere) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(sample(std::vector<float>{nan, 1, nan}, {1, 0, 1}, 0.5), 1);
  EXPECT_EQ(sample(std::vector<float>{-infinity, 1, -infinity}, {1, 0, 1}, 0.999999), 1);
  EXPECT_EQ(sample(std::vector<float>{7}, {1, 3, 0.5}, 0.3), 0);
}

// By hand: 3 / 1.5, -2 * 1.5, once each; zero stays, and so does what was not there.
TEST(Sampling, APenaltyMakesWhatWasThereLessLikely) {
  std::vector<float> logits{3, -2, 0, 1, -1};
  penalise(logits, std::vector<std::int32_t>{0, 1, 0, 2, 0, -1, 99}, 1.5);
  EXPECT_EQ(logits, (std::vector<float>{2, -3, 0, 1, -1}));
  penalise(logits, std::vector<std::int32_t>{3, 4}, 0.5);
  EXPECT_EQ(logits, (std::vector<float>{2, -3, 0, 2, -0.5}));
}

}  // namespace
}  // namespace trainward::trainer

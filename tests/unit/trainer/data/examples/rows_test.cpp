#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "common/base/random.hpp"
#include "trainer/data/batch_reader.hpp"
#include "trainer/data/examples/row_order.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;

// As many short texts as long ones, from 1 to `most`.
std::vector<std::uint32_t> random_lengths(std::size_t count, std::uint32_t most,
                                          std::uint64_t seed) {
  SplitMix64 random(seed);
  std::vector<std::uint32_t> lengths(count);
  for (std::uint32_t& length : lengths) {
    length = 1 + static_cast<std::uint32_t>(random.below(random.below(most) + 1));
  }
  return lengths;
}

bool is_permutation(std::vector<std::uint32_t> order) {
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    if (order[i] != i) return false;
  }
  return true;
}

TEST(RowPlanTest, OneExampleARow) {
  const RowPlan plan = one_a_row(3);
  ASSERT_EQ(plan.rows(), 3U);
  for (std::uint32_t i = 0; i < 3; ++i) EXPECT_THAT(plan.row(i), ElementsAre(i));
  EXPECT_EQ(one_a_row(0).rows(), 0U);
}

TEST(RowPlanTest, PackingHasEachExampleOnceAndNoRowTooLong) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const std::uint32_t block = 8 + static_cast<std::uint32_t>(seed);
    const auto lengths = random_lengths(1 + 7 * seed, block, seed);
    const RowPlan plan = packed(lengths, block, seed);
    EXPECT_TRUE(is_permutation(plan.examples));
    std::uint64_t all = 0;
    for (std::uint32_t row = 0; row < plan.rows(); ++row) {
      ASSERT_FALSE(plan.row(row).empty());
      std::uint64_t length = 0;
      for (const std::uint32_t example : plan.row(row)) length += lengths[example];
      EXPECT_LE(length, block);
      all += length;
    }
    // Best-fit decreasing is never worse than 11/9 of the fewest rows possible, plus one.
    const std::uint64_t fewest = (all + block - 1) / block;
    EXPECT_LE(plan.rows(), fewest * 11 / 9 + 1) << "seed " << seed;
    EXPECT_EQ(packed(lengths, block, seed).examples, plan.examples);
  }
}

TEST(RowPlanTest, PackingFillsRowsOfShortPairs) {
  const auto lengths = random_lengths(20'000, 512, 3);
  const std::uint64_t all = std::accumulate(lengths.begin(), lengths.end(), std::uint64_t{0});
  EXPECT_GT(static_cast<double>(all) / (packed(lengths, 512, 1).rows() * 512.0), 0.99);
}

TEST(RowPlanTest, TheSeedDecidesWhoStandsTogether) {
  const std::vector<std::uint32_t> lengths(64, 4);
  EXPECT_NE(packed(lengths, 16, 1).examples, packed(lengths, 16, 2).examples);
  EXPECT_EQ(packed(lengths, 16, 1).rows(), 16U);
}

TEST(OrderTest, IsAPermutationOfEveryEpoch) {
  for (std::uint32_t rows = 0; rows < 40; ++rows) {
    const auto lengths = random_lengths(rows, 100, rows);
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      const auto order = order_by_length(lengths, 4, 9, epoch);
      EXPECT_EQ(order.size(), rows);
      EXPECT_TRUE(is_permutation(order));
      EXPECT_EQ(order_by_length(lengths, 4, 9, epoch), order);
    }
  }
  const auto lengths = random_lengths(100, 100, 1);
  EXPECT_NE(order_by_length(lengths, 4, 9, 0), order_by_length(lengths, 4, 9, 1));
  EXPECT_NE(order_by_length(lengths, 4, 9, 0), order_by_length(lengths, 4, 8, 0));
  // Written down: a change here would break the resumption of every run under way.
  const std::vector<std::uint32_t> short_then_long{1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THAT(order_by_length(short_then_long, 2, 1234, 0), ElementsAre(6, 5, 1, 0, 3, 2, 8, 7, 4));
}

TEST(OrderTest, RowsOfLikeLengthStandTogether) {
  constexpr std::uint32_t group = 8;
  const auto lengths = random_lengths(4000, 512, 5);
  const auto padding = [&](const std::vector<std::uint32_t>& order) {
    std::uint64_t padded = 0;
    for (std::size_t from = 0; from < order.size(); from += group) {
      std::uint32_t longest = 0;
      for (std::size_t i = from; i < from + group; ++i)
        longest = std::max(longest, lengths[order[i]]);
      for (std::size_t i = from; i < from + group; ++i) padded += longest - lengths[order[i]];
    }
    return padded;
  };
  EXPECT_LT(padding(order_by_length(lengths, group, 1, 0)) * 10,
            padding(shuffled_order(4000, 1, 0)));
}

// Neither short nor long rows come early, nor do they end up in the part that fills no group.
TEST(OrderTest, EveryRowIsAsLikelyEverywhere) {
  constexpr std::uint32_t rows = 22;
  constexpr std::uint32_t group = 4;  // a step: within it, order means nothing
  constexpr int epochs = 6000;
  std::vector<std::uint32_t> lengths(rows);
  std::iota(lengths.begin(), lengths.end(), 1U);
  std::vector<double> mean(rows);
  std::vector<int> last(rows);
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    const auto order = order_by_length(lengths, group, 7, epoch);
    for (std::uint32_t place = 0; place < rows; ++place) {
      mean[order[place]] += static_cast<double>(place / group) / epochs;
    }
    ++last[order.back()];
  }
  for (std::uint32_t row = 0; row < rows; ++row) {
    EXPECT_NEAR(mean[row], (4.0 * (0 + 1 + 2 + 3 + 4) + 2 * 5) / rows, 0.1)
        << "of length " << lengths[row];
    EXPECT_NEAR(last[row], epochs / rows, 90) << "of length " << lengths[row];
  }
}

TEST(HoldOutTest, PartsAreApartAndDecidedByTheSeed) {
  const Split split = hold_out(100, 0.1, 7);
  EXPECT_EQ(split.held_out.size(), 10U);
  auto all = split.training;
  all.insert(all.end(), split.held_out.begin(), split.held_out.end());
  EXPECT_EQ(all.size(), 100U);
  EXPECT_TRUE(is_permutation(all));
  EXPECT_EQ(hold_out(100, 0.1, 7).held_out, split.held_out);
  EXPECT_NE(hold_out(100, 0.1, 8).held_out, split.held_out);
  EXPECT_TRUE(hold_out(100, 0, 7).held_out.empty());
  EXPECT_EQ(hold_out(3, 0.01, 7).held_out.size(), 1U) << "a share is not nothing";
  EXPECT_EQ(hold_out(3, 0.99, 7).training.size(), 1U);
  EXPECT_TRUE(hold_out(1, 0.5, 7).held_out.empty());
}

}  // namespace
}  // namespace trainward::trainer

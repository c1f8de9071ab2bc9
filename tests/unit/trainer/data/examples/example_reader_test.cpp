#include "trainer/data/examples/example_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "common/base/random.hpp"

namespace trainward::trainer {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TokenId padding = 99'999;

// Example i begins with token 1000 * i and counts up; some of its tokens are targets, in each
// example another number of them.
ExampleSet made_set(std::uint32_t count, std::uint32_t longest, std::uint64_t seed = 1) {
  SplitMix64 random(seed);
  ExampleSet set;
  for (std::uint32_t i = 0; i < count; ++i) {
    Example example;
    const std::uint64_t length = 2 + random.below(longest - 1);
    for (std::uint64_t t = 0; t < length; ++t) {
      example.ids.push_back(static_cast<TokenId>(1000 * i + t));
      example.targets.push_back(random.below(2) != 0 ? 1 : 0);
    }
    example.targets.back() = 1;
    EXPECT_TRUE(set.add(example));
  }
  return set;
}

std::vector<std::uint32_t> all_of(const ExampleSet& set) {
  std::vector<std::uint32_t> chosen(set.size());
  std::iota(chosen.begin(), chosen.end(), 0U);
  return chosen;
}

RowShape shape(std::int64_t block, bool packing) {
  return {.block = block, .packing = packing, .padding = padding, .seed = 5};
}

struct Copied {
  std::vector<std::int32_t> ids;
  std::vector<float> weights;
  std::vector<std::int32_t> segments;

  friend bool operator==(const Copied&, const Copied&) = default;
};

Copied copied(const TokenBatch& batch) {
  return {{batch.ids.begin(), batch.ids.end()},
          {batch.weights.begin(), batch.weights.end()},
          {batch.segments.begin(), batch.segments.end()}};
}

// How often each token is seen as a target.
std::map<std::int32_t, int> targets_of(const Copied& batch) {
  std::map<std::int32_t, int> found;
  for (std::size_t i = 0; i < batch.ids.size(); ++i) {
    if (batch.weights[i] != 0) ++found[batch.ids[i]];
  }
  return found;
}

TEST(ExampleRowsTest, AnExampleIsPaddedOnTheRight) {
  ExampleSet set;
  ASSERT_TRUE(set.add({{10, 11, 12}, {1, 0, 1}}));
  const ExampleRows rows(set, {0}, shape(5, false));
  RowBuffer buffer(2, rows.shape());
  rows.write(0, 0.5F, 0, buffer);
  rows.write_empty(1, buffer);
  const TokenBatch batch = buffer.batch();
  EXPECT_THAT(batch.ids, ElementsAre(10, 11, 12, padding, padding, padding, padding, padding,
                                     padding, padding));
  EXPECT_THAT(batch.weights, ElementsAre(0, 0, 0.5F, 0, 0, 0, 0, 0, 0, 0))
      << "nothing predicts the first token";
  EXPECT_THAT(batch.segments, IsEmpty()) << "a row is one text";
}

// Rows may be padded with the end token: what is trained on is known by its place, never by its id.
TEST(ExampleRowsTest, AnEndTokenIsATargetThoughPaddingLooksTheSame) {
  ExampleSet set;
  ASSERT_TRUE(set.add({{10, padding, 11, padding}, {0, 0, 1, 1}}));
  const ExampleRows rows(set, {0}, shape(6, false));
  RowBuffer buffer(1, rows.shape());
  rows.write(0, 1, 0, buffer);
  EXPECT_THAT(buffer.batch().ids, ElementsAre(10, padding, 11, padding, padding, padding));
  EXPECT_THAT(buffer.batch().weights, ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST(ExampleRowsTest, APackedExampleDoesNotLearnToFollowItsNeighbour) {
  ExampleSet set;
  ASSERT_TRUE(set.add({{10, 11, 12}, {1, 1, 1}}));
  ASSERT_TRUE(set.add({{20, 21}, {1, 1}}));
  const ExampleRows rows(set, {0, 1}, shape(6, true));
  ASSERT_EQ(rows.rows(), 1);
  EXPECT_EQ(rows.targets(0), 3);
  RowBuffer buffer(1, rows.shape());
  rows.write(0, 1, 0, buffer);
  EXPECT_THAT(buffer.batch().ids, ElementsAre(10, 11, 12, 20, 21, padding));
  EXPECT_THAT(buffer.batch().weights, ElementsAre(0, 1, 1, 0, 1, 0));
  EXPECT_THAT(buffer.batch().segments, ElementsAre(0, 0, 0, 1, 1, 2));
}

TEST(ExampleRowsTest, ABufferUsedAgainHoldsNothingOfBefore) {
  const ExampleSet set = made_set(30, 20);
  for (const bool packing : {false, true}) {
    const ExampleRows rows(set, all_of(set), shape(20, packing));
    RowBuffer used(1, rows.shape());
    for (std::uint32_t row = 0; row < rows.rows(); ++row) {
      rows.write(row, 1, 0, used);
      RowBuffer fresh(1, rows.shape());
      rows.write(row, 1, 0, fresh);
      EXPECT_EQ(copied(used.batch()), copied(fresh.batch()));
    }
  }
}

class ReaderTest : public testing::TestWithParam<bool> {
 protected:
  [[nodiscard]] ExampleRows rows_of(const ExampleSet& set, std::int64_t block = 16) const {
    return {set, all_of(set), shape(block, GetParam())};
  }
};
INSTANTIATE_TEST_SUITE_P(PaddedAndPacked, ReaderTest, testing::Bool());

// The mean is over the targets of the step, not of each batch or row.
TEST_P(ReaderTest, EveryTargetOfAStepWeighsTheSameAndTheyAddUpToOne) {
  const ExampleSet set = made_set(40, 16);
  const ExampleRows rows = rows_of(set);
  for (const std::int64_t rows_a_step : {1, 3, 8, 64}) {
    ExampleReader reader(rows, rows_a_step, 3);
    for (int step = 0; step < 30; ++step) {
      const Copied batch = copied(reader.next().value());
      double sum = 0;
      std::set<float> different;
      for (const float weight : batch.weights) {
        sum += weight;
        if (weight != 0) different.insert(weight);
      }
      EXPECT_NEAR(sum, 1, 1e-5);
      ASSERT_EQ(different.size(), 1U);
      EXPECT_FLOAT_EQ(*different.begin(), 1.0F / static_cast<float>(reader.targets()));
    }
  }
}

TEST_P(ReaderTest, AnEpochHasEveryTargetOnceAndEndsWithAWholeStep) {
  const ExampleSet set = made_set(37, 16);
  const ExampleRows rows = rows_of(set);
  ExampleReader reader(rows, 4, 3);
  EXPECT_EQ(reader.steps_per_epoch(), (rows.rows() + 3) / 4);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::map<std::int32_t, int> seen;
    std::int64_t tokens = 0;
    for (std::int64_t step = 0; step < reader.steps_per_epoch(); ++step) {
      EXPECT_EQ(reader.cursor(), (Cursor{epoch, 4 * step}));
      for (const auto& [id, times] : targets_of(copied(reader.next().value()))) seen[id] += times;
      tokens += reader.tokens();
    }
    EXPECT_EQ(reader.cursor(), (Cursor{epoch + 1, 0}));
    EXPECT_EQ(static_cast<std::int64_t>(seen.size()), set.targets());
    EXPECT_EQ(tokens, set.tokens());
    for (const auto& [id, times] : seen) EXPECT_EQ(times, 1) << id;
  }
}

TEST_P(ReaderTest, GoesOnFromAnyCursorAsIfItHadNeverStopped) {
  const ExampleSet set = made_set(61, 16);
  const ExampleRows rows = rows_of(set);
  for (std::int64_t stop = 0; stop < 25; ++stop) {
    ExampleReader straight(rows, 3, 42);
    ExampleReader skipping(rows, 3, 42);
    for (std::int64_t i = 0; i < stop; ++i) {
      (void)straight.next();
      skipping.skip();
    }
    EXPECT_EQ(skipping.cursor(), straight.cursor());
    // As another process would: all of it made again.
    const ExampleSet again = made_set(61, 16);
    const ExampleRows rows_again = rows_of(again);
    ExampleReader resumed(rows_again, 3, 42);
    ASSERT_TRUE(resumed.seek(straight.cursor()));
    for (int i = 0; i < 15; ++i) {
      const Copied expected = copied(straight.next().value());
      EXPECT_EQ(copied(resumed.next().value()), expected) << "stopped at " << stop;
      EXPECT_EQ(copied(skipping.next().value()), expected);
    }
  }
}

TEST_P(ReaderTest, LessDataThanAStepIsFilledWithRowsThatWeighNothing) {
  const ExampleSet set = made_set(2, 16);
  const ExampleRows rows = rows_of(set);
  ExampleReader reader(rows, 8, 1);
  EXPECT_EQ(reader.steps_per_epoch(), 1);
  for (int epoch = 0; epoch < 3; ++epoch) {
    const Copied batch = copied(reader.next().value());
    EXPECT_EQ(batch.ids.size(), 8U * 16U);
    EXPECT_EQ(static_cast<std::int64_t>(targets_of(batch).size()), set.targets());
    EXPECT_NEAR(std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0), 1, 1e-5);
    EXPECT_EQ(reader.cursor(), (Cursor{epoch + 1, 0}));
  }
}

TEST_P(ReaderTest, RefusesAPlaceTheDataDoesNotHave) {
  const ExampleSet set = made_set(5, 16);
  const ExampleRows rows = rows_of(set);
  ExampleReader reader(rows, 2, 1);
  for (const Cursor bad : {Cursor{0, rows.rows()}, Cursor{0, -1}, Cursor{-1, 0}}) {
    auto sought = reader.seek(bad);
    ASSERT_FALSE(sought);
    EXPECT_EQ(sought.error().kind, ErrorKind::corrupt);
  }
  EXPECT_EQ(reader.cursor(), Cursor{});
}

TEST_P(ReaderTest, EvaluationSeesEveryTargetOnceAndItsBatchesAddUpToTheMean) {
  const ExampleSet set = made_set(21, 16);
  const ExampleRows rows = rows_of(set);
  HeldOutExamples held_out(rows, 4);
  ASSERT_EQ(held_out.batches(), (rows.rows() + 3) / 4);
  std::map<std::int32_t, int> seen;
  double sum = 0;
  for (std::int64_t i = 0; i < held_out.batches(); ++i) {
    const Copied batch = copied(held_out.batch(i).value());
    EXPECT_EQ(batch, copied(held_out.batch(i).value())) << "the same each time";
    for (const auto& [id, times] : targets_of(batch)) seen[id] += times;
    sum += std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0);
  }
  EXPECT_EQ(static_cast<std::int64_t>(seen.size()), set.targets());
  EXPECT_NEAR(sum, 1, 1e-5);
}

// What packing must not change: with its segment, each token sees and weighs what it does alone.
TEST(PackingTest, HasTheSameExamplesAsPadding) {
  const ExampleSet set = made_set(50, 16);
  const auto stretches = [&](bool packing) {
    const ExampleRows rows(set, all_of(set), shape(64, packing));
    std::map<std::vector<std::int32_t>, std::vector<bool>> found;  // by its tokens: its targets
    HeldOutExamples all(rows, rows.rows());
    const Copied batch = copied(all.batch(0).value());
    std::vector<std::int32_t> ids;
    std::vector<bool> targets;
    const auto close = [&] {
      if (!ids.empty() && ids.front() != padding) found[ids] = targets;
      ids.clear();
      targets.clear();
    };
    for (std::size_t i = 0; i < batch.ids.size(); ++i) {
      const bool new_row = i % 64 == 0;
      const bool new_text = packing ? !new_row && batch.segments[i] != batch.segments[i - 1]
                                    : batch.ids[i] == padding;
      if (new_row || new_text) close();
      ids.push_back(batch.ids[i]);
      targets.push_back(batch.weights[i] != 0);
    }
    close();
    return found;
  };
  EXPECT_EQ(stretches(true).size(), 50U);
  EXPECT_EQ(stretches(true), stretches(false));
}

TEST(ExampleSetTest, IsBoundedAndItsDigestKnowsTokensTargetsAndTheirMaker) {
  ExampleSet small(64);
  ASSERT_TRUE(small.add({{1, 2, 3}, {0, 1, 1}}));
  const auto full = small.add({std::vector<TokenId>(20, 1), std::vector<std::uint8_t>(20, 1)});
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().kind, ErrorKind::usage);
  EXPECT_EQ(small.size(), 1U);
  const auto digest = [](const std::vector<Example>& examples, std::string_view maker) {
    ExampleSet set;
    for (const Example& example : examples) EXPECT_TRUE(set.add(example));
    return set.digest(maker);
  };
  const std::string one = digest({{{1, 2, 3}, {0, 1, 1}}}, "a");
  EXPECT_EQ(digest({{{1, 2, 3}, {0, 1, 1}}}, "a"), one);
  EXPECT_NE(digest({{{1, 2, 3}, {0, 0, 1}}}, "a"), one);
  EXPECT_NE(digest({{{1, 2, 4}, {0, 1, 1}}}, "a"), one);
  EXPECT_NE(digest({{{1, 2, 3}, {0, 1, 1}}}, "b"), one);
  EXPECT_NE(digest({{{1, 2}, {0, 1}}, {{3}, {1}}}, "a"), one);
}

TEST(ExampleSetTest, GivesBackWhatWasPutIn) {
  const ExampleSet set = made_set(5, 9);
  EXPECT_EQ(set.at(3).ids.front(), 3000);
  std::int64_t targets = 0;
  for (std::uint32_t i = 0; i < set.size(); ++i) {
    EXPECT_EQ(set.at(i).target_count(), set.targets(i));
    targets += set.targets(i);
  }
  EXPECT_EQ(targets, set.targets());
  ExampleSet large;
  ASSERT_TRUE(large.add({{0, static_cast<TokenId>(max_vocabulary - 1)}, {0, 1}}));
  EXPECT_EQ(large.at(0).ids.back(), max_vocabulary - 1);
}

}  // namespace
}  // namespace trainward::trainer

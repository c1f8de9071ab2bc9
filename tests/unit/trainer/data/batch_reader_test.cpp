#include "trainer/data/batch_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "scratch_folder.hpp"

namespace trainward::trainer {
namespace {

using Batch = std::vector<std::int32_t>;

// Seven blocks of two tokens, each block with its own first token.
class BatchReaderTest : public testing::Test {
 protected:
  BatchReaderTest() {
    folder_.write("a", "0.1.2.3.4.5.6.");
    const std::vector<std::string> paths{folder_.path()};
    corpus_.emplace(Corpus::read(paths, 2).value());
  }
  static Batch next(BatchReader& reader) {
    const auto batch = reader.next().value();
    return {batch.ids.begin(), batch.ids.end()};
  }

  ScratchFolder folder_;
  std::optional<Corpus> corpus_;
};

TEST(ShuffleTest, IsAPermutationFixedForEver) {
  const auto order = shuffled_order(1000, 1234, 5);
  EXPECT_EQ(std::set(order.begin(), order.end()).size(), 1000U);
  EXPECT_EQ(*std::max_element(order.begin(), order.end()), 999U);
  // Written down: a change here would break the resumption of every run under way.
  EXPECT_THAT(shuffled_order(8, 1234, 0), testing::ElementsAre(2, 0, 3, 1, 6, 4, 7, 5));
  EXPECT_NE(order, shuffled_order(1000, 1234, 6));
  EXPECT_NE(order, shuffled_order(1000, 1235, 5));
  EXPECT_NE(shuffled_order(1000, 1234, 1), shuffled_order(1000, 1235, 0));
}

TEST(ShuffleTest, EveryBlockIsAsLikelyEverywhere) {
  std::vector<int> first(4);
  for (std::uint64_t epoch = 0; epoch < 4000; ++epoch) {
    ++first[shuffled_order(4, 7, epoch)[0]];
  }
  for (const int times : first) EXPECT_NEAR(times, 1000, 150);
}

TEST_F(BatchReaderTest, VisitsEachBlockOnceAnEpoch) {
  BatchReader reader(*corpus_, 1, 42);
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::set<std::int32_t> seen;
    for (int i = 0; i < 7; ++i) {
      EXPECT_EQ(reader.cursor(), (Cursor{epoch, i}));
      seen.insert(next(reader)[0]);
    }
    EXPECT_EQ(seen.size(), 7U);
  }
}

TEST_F(BatchReaderTest, FillsABatchFromTheNextEpoch) {
  BatchReader reader(*corpus_, 3, 42);
  BatchReader single(*corpus_, 1, 42);
  Batch three;
  for (int i = 0; i < 9; ++i) {
    const Batch one = next(single);
    three.insert(three.end(), one.begin(), one.end());
    if (i % 3 != 2) continue;
    EXPECT_EQ(next(reader), three);
    EXPECT_EQ(reader.cursor(), single.cursor());
    three.clear();
  }
}

TEST_F(BatchReaderTest, GoesOnFromACursorAsIfItHadNeverStopped) {
  for (std::int64_t stop = 0; stop < 12; ++stop) {
    BatchReader straight(*corpus_, 3, 42);
    for (std::int64_t i = 0; i < stop; ++i) (void)straight.next();
    BatchReader resumed(*corpus_, 3, 42);
    ASSERT_TRUE(resumed.seek(straight.cursor()));
    for (int i = 0; i < 5; ++i) EXPECT_EQ(next(resumed), next(straight)) << "stopped at " << stop;
  }
}

TEST_F(BatchReaderTest, RefusesAPlaceTheDataDoesNotHave) {
  BatchReader reader(*corpus_, 3, 42);
  for (const Cursor bad : {Cursor{0, 7}, Cursor{0, -1}, Cursor{-1, 0}}) {
    auto sought = reader.seek(bad);
    ASSERT_FALSE(sought);
    EXPECT_EQ(sought.error().kind, ErrorKind::corrupt);
  }
  EXPECT_EQ(reader.cursor(), Cursor{});
}

// What is evaluated on is never trained on, and every block of it is seen.
TEST_F(BatchReaderTest, HeldOutBlocksStayApart) {
  BatchReader reader(*corpus_, 2, 9, 3);
  std::set<std::int32_t> trained;
  for (int i = 0; i < 8; ++i) {  // four epochs of four blocks
    const Batch batch = next(reader);
    trained.insert({batch[0], batch[2]});
  }
  EXPECT_EQ(reader.cursor(), (Cursor{4, 0}));
  EXPECT_THAT(trained, testing::ElementsAre('0', '1', '2', '3'));
  EXPECT_FALSE(reader.seek({0, 4}));
  HeldOut held_out(*corpus_, 3, 2);
  ASSERT_EQ(held_out.batches(), 2);
  std::vector<std::int32_t> seen;
  for (std::int64_t i = 0; i < 2; ++i) {
    const auto batch = held_out.batch(i).value();
    seen.insert(seen.end(), {batch.ids[0], batch.ids[2]});
  }
  EXPECT_THAT(seen, testing::ElementsAre('4', '5', '6', '4'));
}

}  // namespace
}  // namespace trainward::trainer

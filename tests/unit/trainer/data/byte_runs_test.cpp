// Digests and batches of runs on bytes, written down: a change here would break the resumption of
// every run under way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "trainer/data/batch_reader.hpp"

namespace trainward::trainer {
namespace {

TEST(ByteRunsTest, KeepTheirDigestAndTheirBatches) {
  const ScratchFolder folder;
  folder.write("a", "the first document");
  folder.write("b", std::string("second\0\xFF", 8));
  folder.write("c", "and the third");
  const std::vector<std::string> paths{folder.path()};
  auto corpus = Corpus::read(paths, 4);
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_EQ(corpus->digest(), "e628151fde814c729f51f9698890f0bd70a75d59b471c1a3c0e9e9a7ed4ffb25");
  BatchReader reader(*corpus, 4, 1234);
  const auto batch = reader.next();
  ASSERT_TRUE(batch);
  EXPECT_THAT(std::vector(batch->ids.begin(), batch->ids.end()),
              testing::ElementsAre(116, 104, 105, 114, 101, 99, 111, 110, 116, 104, 101, 32, 116,
                                   32, 100, 111));
}

}  // namespace
}  // namespace trainward::trainer

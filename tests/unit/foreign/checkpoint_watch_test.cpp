// A file counts when it has stopped growing.
#include "supervisor/foreign/checkpoint_watch.hpp"

#include <gmock/gmock.h>

#include "words.hpp"

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

CheckpointFile file(std::int64_t step, std::uint64_t bytes, std::int64_t modified = 1000) {
  return {fmt::format("/c/step{}.pt", step), step, bytes, modified};
}

TEST(CheckpointWatch, TwoLooksThatAgree) {
  CheckpointWatch watch(0, 0);
  EXPECT_THAT(watch.look({file(1, 10)}), IsEmpty());
  EXPECT_TRUE(watch.waiting());
  EXPECT_THAT(watch.look({file(1, 20)}), IsEmpty());
  EXPECT_THAT(words(watch.look({file(1, 20)})), ElementsAre("checkpoint step1.pt 1"));
  EXPECT_FALSE(watch.waiting());
  EXPECT_THAT(watch.look({file(1, 20)}), IsEmpty());
}

TEST(CheckpointWatch, ANewVersionIsToldAgain) {
  CheckpointWatch watch(0, 0);
  watch.look({file(1, 20)});
  watch.look({file(1, 20)});
  EXPECT_THAT(watch.look({file(1, 20, 2000)}), IsEmpty());
  EXPECT_THAT(words(watch.look({file(1, 20, 2000)})), ElementsAre("checkpoint step1.pt 1"));
}

TEST(CheckpointWatch, FilesOfEarlierAttemptsAndDaemonsAreKnown) {
  CheckpointWatch watch(500, 3);
  EXPECT_THAT(watch.look({file(9, 20, 499), file(3, 20)}, true), IsEmpty());
  EXPECT_FALSE(watch.waiting());
}

TEST(CheckpointWatch, WithoutAWriterNothingGrowsAnyMore) {
  CheckpointWatch watch(0, 0);
  EXPECT_THAT(words(watch.look({file(2, 10), file(1, 10)}, true)),
              ElementsAre("checkpoint step1.pt 1", "checkpoint step2.pt 2"));
  EXPECT_FALSE(watch.waiting());
  watch.look({});
  EXPECT_FALSE(watch.waiting());
}

}  // namespace
}  // namespace trainward::foreign

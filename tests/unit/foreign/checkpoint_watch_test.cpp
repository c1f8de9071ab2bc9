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

TEST(CheckpointWatch, OneThatHasNotChangedForASecond) {
  CheckpointWatch watch(0, 0);
  EXPECT_THAT(watch.look({file(1, 10)}, 0), IsEmpty());
  EXPECT_TRUE(watch.waiting());
  EXPECT_THAT(watch.look({file(1, 20)}, 1000), IsEmpty());
  EXPECT_THAT(watch.look({file(1, 20)}, 1999), IsEmpty()) << "looks that follow soon say nothing";
  EXPECT_THAT(words(watch.look({file(1, 20)}, 2000)), ElementsAre("checkpoint step1.pt 1"));
  EXPECT_FALSE(watch.waiting());
  EXPECT_THAT(watch.look({file(1, 20)}, 9000), IsEmpty());
}

TEST(CheckpointWatch, ANewVersionIsToldAgain) {
  CheckpointWatch watch(0, 0);
  watch.look({file(1, 20)}, 0);
  watch.look({file(1, 20)}, 1000);
  EXPECT_THAT(watch.look({file(1, 20, 2000)}, 2000), IsEmpty());
  EXPECT_THAT(words(watch.look({file(1, 20, 2000)}, 3000)), ElementsAre("checkpoint step1.pt 1"));
}

TEST(CheckpointWatch, FilesOfEarlierAttemptsAndDaemonsAreKnown) {
  CheckpointWatch watch(500, 3);
  EXPECT_THAT(watch.look({file(9, 20, 499), file(3, 20)}, 0, true), IsEmpty());
  EXPECT_FALSE(watch.waiting());
}

TEST(CheckpointWatch, WithoutAWriterNothingGrowsAnyMore) {
  CheckpointWatch watch(0, 0);
  EXPECT_THAT(words(watch.look({file(2, 10), file(1, 10)}, 0, true)),
              ElementsAre("checkpoint step1.pt 1", "checkpoint step2.pt 2"));
  EXPECT_FALSE(watch.waiting());
  watch.look({}, 0);
  EXPECT_FALSE(watch.waiting());
}

TEST(CheckpointWatch, OfManyTheNewestAreTold) {
  CheckpointWatch watch(0, 0);
  std::vector<CheckpointFile> found;
  for (std::int64_t step = 60'000; step > 0; --step) found.push_back(file(step, 10));
  EXPECT_THAT(watch.look(found, 0), IsEmpty());
  const Events events = watch.look(found, 1000);
  ASSERT_EQ(events.size(), most_checkpoints_told);
  EXPECT_EQ(std::get<core::CheckpointReported>(events.back()).step.number, 60'000);
  EXPECT_FALSE(watch.waiting());
  EXPECT_THAT(watch.look(found, 2000), IsEmpty()) << "the others never";
  found.insert(found.begin(), file(60'001, 10));
  watch.look(found, 3000);
  EXPECT_EQ(watch.look(found, 4000).size(), 1U);
}

}  // namespace
}  // namespace trainward::foreign

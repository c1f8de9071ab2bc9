// A file counts when it has stopped growing.
#include "supervisor/evidence/foreign/checkpoints/settled.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

namespace trainward::foreign {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Candidate file(std::int64_t step, std::uint64_t bytes, std::int64_t modified = 1000) {
  return {fmt::format("/c/step{}.pt", step), step, bytes, modified};
}

std::vector<std::string> names(const std::vector<Candidate>& settled) {
  std::vector<std::string> out;
  for (const Candidate& candidate : settled) out.push_back(candidate.path.filename().string());
  return out;
}

TEST(SettledCheckpoints, OneThatHasNotChangedForASecond) {
  SettledCheckpoints watch(0, 0);
  EXPECT_THAT(watch.look({file(1, 10)}, 0), IsEmpty());
  EXPECT_TRUE(watch.waiting());
  EXPECT_THAT(watch.look({file(1, 20)}, 1000), IsEmpty());
  EXPECT_THAT(watch.look({file(1, 20)}, 1999), IsEmpty()) << "looks that follow soon say nothing";
  EXPECT_THAT(names(watch.look({file(1, 20)}, 2000)), ElementsAre("step1.pt"));
  EXPECT_FALSE(watch.waiting());
  EXPECT_THAT(watch.look({file(1, 20)}, 9000), IsEmpty());
}

TEST(SettledCheckpoints, ANewVersionIsToldAgain) {
  SettledCheckpoints watch(0, 0);
  watch.look({file(1, 20)}, 0);
  watch.look({file(1, 20)}, 1000);
  EXPECT_THAT(watch.look({file(1, 20, 2000)}, 2000), IsEmpty());
  EXPECT_THAT(names(watch.look({file(1, 20, 2000)}, 3000)), ElementsAre("step1.pt"));
}

TEST(SettledCheckpoints, FilesOfEarlierAttemptsAndDaemonsAreKnown) {
  SettledCheckpoints watch(500, 3);
  EXPECT_THAT(watch.look({file(9, 20, 499), file(3, 20)}, 0, true), IsEmpty());
  EXPECT_FALSE(watch.waiting());
}

TEST(SettledCheckpoints, WithoutAWriterNothingGrowsAnyMore) {
  SettledCheckpoints watch(0, 0);
  EXPECT_THAT(names(watch.look({file(2, 10), file(1, 10)}, 0, true)),
              ElementsAre("step1.pt", "step2.pt"));
  EXPECT_FALSE(watch.waiting());
  watch.look({}, 0);
  EXPECT_FALSE(watch.waiting());
}

TEST(SettledCheckpoints, OfManyTheNewestAreTold) {
  SettledCheckpoints watch(0, 0);
  std::vector<Candidate> found;
  for (std::int64_t step = 60'000; step > 0; --step) found.push_back(file(step, 10));
  EXPECT_THAT(watch.look(found, 0), IsEmpty());
  const auto settled = watch.look(found, 1000);
  ASSERT_EQ(settled.size(), most_checkpoints_told);
  EXPECT_EQ(settled.back().step, 60'000);
  EXPECT_FALSE(watch.waiting());
  EXPECT_THAT(watch.look(found, 2000), IsEmpty()) << "the others never";
  found.insert(found.begin(), file(60'001, 10));
  watch.look(found, 3000);
  EXPECT_EQ(watch.look(found, 4000).size(), 1U);
}

TEST(SettledCheckpoints, AFolderCountsWhenNothingInItChanges) {
  SettledCheckpoints watch(0, 0);
  Candidate folder{"/c/checkpoint-5", 5, 0, 1000, 7, {"/c/checkpoint-5"}};
  EXPECT_THAT(watch.look({folder}, 0), IsEmpty());
  EXPECT_FALSE(watch.waiting()) << "nothing is in it yet";
  folder.bytes = 10;
  watch.look({folder}, 100);
  EXPECT_TRUE(watch.waiting());
  folder.modified_ns = 2000;
  EXPECT_THAT(watch.look({folder}, 1100), IsEmpty()) << "something else came into it";
  EXPECT_THAT(names(watch.look({folder}, 2100)), ElementsAre("checkpoint-5"));
}

TEST(SettledCheckpoints, AFileWithoutAStepIsToldWhateverWasKept) {
  SettledCheckpoints watch(0, 100);
  const Candidate last{"/c/last.ckpt", {}, 10, 1000, 7, {}};
  EXPECT_THAT(names(watch.look({last}, 0, true)), ElementsAre("last.ckpt"));
}

}  // namespace
}  // namespace trainward::foreign

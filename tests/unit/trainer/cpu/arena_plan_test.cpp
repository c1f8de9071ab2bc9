// No two buffers that live at once may overlap; memory is shared where lifetimes allow.
#include "trainer/cpu/arena_plan.hpp"

#include <gtest/gtest.h>

#include "graph/reference.hpp"
#include "trainer/cpu/runtime/memory.hpp"

namespace trainward::cpu {
namespace {

TEST(ArenaPlan, SharesMemoryBetweenLifetimesThatDoNotMeet) {
  const ArenaPlan plan = plan_arena({{100, 0, 1}, {100, 1, 2}, {100, 2, 3}});
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
  EXPECT_EQ(plan.bytes, 256U);
}

TEST(ArenaPlan, TakesTheSmallestGapThatHoldsIt) {
  // After step 1 gaps of 256 and 64 bytes are free; 64 bytes go into the small one.
  const ArenaPlan plan = plan_arena({{256, 0, 1}, {64, 0, 9}, {64, 0, 1}, {64, 0, 9}, {64, 2, 9}});
  EXPECT_EQ(plan.offsets[4], plan.offsets[2]);
}

TEST(ArenaPlan, NeverOverlapsWhatLivesTogether) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    graph::test::Draw draw(seed);
    std::vector<Lifetime> lifetimes(static_cast<std::size_t>(draw.size(0, 40)));
    for (Lifetime& lifetime : lifetimes) {
      lifetime.bytes = static_cast<std::size_t>(draw.size(1, 5000));
      lifetime.first = static_cast<std::size_t>(draw.size(0, 30));
      lifetime.last = lifetime.first + static_cast<std::size_t>(draw.size(0, 10));
    }
    const ArenaPlan plan = plan_arena(lifetimes);
    for (std::size_t i = 0; i < lifetimes.size(); ++i) {
      EXPECT_EQ(plan.offsets[i] % alignment, 0U);
      EXPECT_LE(plan.offsets[i] + lifetimes[i].bytes, plan.bytes);
      for (std::size_t j = 0; j < i; ++j) {
        const bool together =
            lifetimes[i].first <= lifetimes[j].last && lifetimes[j].first <= lifetimes[i].last;
        const bool apart = plan.offsets[i] + lifetimes[i].bytes <= plan.offsets[j] ||
                           plan.offsets[j] + lifetimes[j].bytes <= plan.offsets[i];
        EXPECT_TRUE(!together || apart) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace trainward::cpu

#include "trainer/mesh/step_share.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "common/base/random.hpp"
#include "known.hpp"
#include "trainer/mesh/all_reduce.hpp"

namespace trainward::mesh {
namespace {

constexpr Mesh eight{2, 4};

double last_bucket(std::int64_t bytes, std::int64_t bucket) {
  return choose(eight, t3k, bytes % bucket).cost.seconds;
}

TEST(StepShare, WhatFitsBesideTheBackwardPassIsHidden) {
  const StepShare found = step_share({3.0, 2.0, gradients}, eight, t3k);
  EXPECT_LT(found.communication_seconds, 2.0);
  EXPECT_DOUBLE_EQ(found.exposed_seconds, last_bucket(gradients, default_bucket_bytes));
  EXPECT_DOUBLE_EQ(found.share, found.exposed_seconds / (3.0 + found.exposed_seconds));
  EXPECT_EQ(found.buckets, 84);
  EXPECT_EQ(found.source, Source::measured);
}

TEST(StepShare, WhatDoesNotFitIsExposed) {
  const StepShare found = step_share({0.15, 0.1, gradients}, eight, t3k);
  // Nothing is summed until the first of 84 buckets is complete.
  EXPECT_DOUBLE_EQ(found.exposed_seconds, found.communication_seconds - 0.1 * 83 / 84);
}

TEST(StepShare, OneBucketIsSummedAfterThePass) {
  const StepShare found = step_share({1.0, 0.6, min_bucket_bytes}, eight, t3k);
  EXPECT_EQ(found.buckets, 1);
  EXPECT_DOUBLE_EQ(found.exposed_seconds, found.communication_seconds);
}

TEST(StepShare, WithoutOverlapAllIsExposedAndNoMore) {
  const StepShare found = step_share({1.0, 0.0, gradients}, eight, t3k);
  EXPECT_DOUBLE_EQ(found.exposed_seconds, found.communication_seconds);
}

TEST(StepShare, SmallBucketsAreRaised) {
  EXPECT_EQ(step_share({1, 0, 10 * min_bucket_bytes, 1}, eight, t3k).buckets, 10);
  EXPECT_EQ(step_share({1, 0, 10 * min_bucket_bytes, -5}, eight, t3k).buckets, 10);
  EXPECT_EQ(step_share({1, 0, 100, huge}, eight, t3k).buckets, 1);
}

TEST(StepShare, AccumulationDividesTheShare) {
  const StepWork once{1.0, 0.1, gradients};
  const double share = step_share(once, eight, t3k).share;
  const StepShare often = step_share(accumulated(once, 8), eight, t3k);
  EXPECT_NEAR(often.share, share / 8, share / 8 * 0.05);
  EXPECT_EQ(accumulated(once, 0).compute_seconds, 1.0);
}

TEST(StepShare, OneChipOrNoGradientsWaitForNobody) {
  EXPECT_EQ(step_share({1, 0, huge}, {1, 1}, t3k).share, 0);
  EXPECT_EQ(step_share({1, 0, 0}, eight, t3k).share, 0);
  EXPECT_EQ(step_share({0, 0, 0}, eight, t3k).share, 0);
  EXPECT_EQ(step_share({0, 0, -1}, eight, t3k).buckets, 0);
}

TEST(StepShare, ANetworkThatCarriesNothingTakesTheWholeStep) {
  EXPECT_EQ(step_share({1, 1, gradients}, {1, 2}, network(0, 0)).share, 1);
}

TEST(StepShare, IsAShareWhateverTheStep) {
  SplitMix64 random(13);
  const auto seconds = [&random] {
    return static_cast<double>(random.below(2'000'000)) * 1e-5 - 1e-3;
  };
  for (int i = 0; i < 20'000; ++i) {
    StepWork work;
    work.compute_seconds = seconds();
    work.backward_seconds = seconds();
    work.gradient_bytes = static_cast<std::int64_t>(random.next() >> (1 + random.below(63)));
    work.bucket_bytes = static_cast<std::int64_t>(random.next() >> (1 + random.below(63)));
    const Mesh mesh{static_cast<std::int64_t>(1 + random.below(32)),
                    static_cast<std::int64_t>(1 + random.below(32))};
    const Fabric& fabric = fabrics[random.below(fabrics.size())];
    const StepShare found = step_share(work, mesh, fabric);
    ASSERT_TRUE(found.share >= 0 && found.share <= 1) << found.share;
    ASSERT_TRUE(std::isfinite(found.exposed_seconds));
    ASSERT_LE(found.exposed_seconds, found.communication_seconds);
    ASSERT_GE(found.exposed_seconds, 0);
  }
}

TEST(StepShare, TimesThatAreNoNumbersDoNoHarm) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinity, -infinity}) {
    const double share = step_share({bad, bad, gradients}, eight, t3k).share;
    EXPECT_TRUE(share >= 0 && share <= 1) << bad;
  }
}

}  // namespace
}  // namespace trainward::mesh

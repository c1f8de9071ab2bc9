// Loss, leaks, regular faults, boards and plans: small machines with properties of their own.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "supervisor/decide/core/boards.hpp"
#include "supervisor/decide/core/faults.hpp"
#include "supervisor/decide/core/leak_watch.hpp"
#include "supervisor/decide/core/loss_watch.hpp"
#include "supervisor/decide/core/plan.hpp"

namespace trainward::core {
namespace {

constexpr std::int64_t hour = 3'600'000;

TEST(LossWatch, NoiseAndASlowDescentAreNoTrouble) {
  LossWatch watch;
  for (int step = 1; step <= 5'000; ++step) {
    const double loss = 10.0 / std::sqrt(1.0 + step / 100.0) + 0.3 * std::sin(step * 1.7);
    EXPECT_FALSE(watch_loss(watch, {step}, loss, true)) << step;
  }
}

TEST(LossWatch, AJumpThatStaysIsTroubleFromItsFirstStep) {
  LossWatch watch;
  for (int step = 1; step <= 100; ++step) ASSERT_FALSE(watch_loss(watch, {step}, 2.0, true));
  EXPECT_FALSE(watch_loss(watch, {101}, 9.0, true)) << "one bad batch is no trouble";
  EXPECT_FALSE(watch_loss(watch, {102}, 2.0, true));
  std::optional<LossTrouble> trouble;
  for (int step = 103; step <= 110 && !trouble; ++step)
    trouble = watch_loss(watch, {step}, 9.0, true);
  ASSERT_TRUE(trouble.has_value());
  EXPECT_EQ(trouble->cause, Cause::loss_spike);
  EXPECT_EQ(trouble->from, Step{103});
}

// A model that has nearly learned its data by heart: from 5.5 to 0.01, and up to 0.1 for a while.
TEST(LossWatch, WhatIsLeftOfALossMayBreathe) {
  LossWatch watch;
  for (int step = 1; step <= 800; ++step) {
    const double loss =
        step % 200 > 180 && step > 400 ? 0.1 : 5.5 * std::exp(-step / 40.0) + 0.0097;
    ASSERT_FALSE(watch_loss(watch, {step}, loss, true)) << step;
  }
  std::optional<LossTrouble> trouble;
  for (int step = 801; step <= 805; ++step) trouble = watch_loss(watch, {step}, 0.5, true);
  EXPECT_TRUE(trouble) << "a tenth of where it began is more than that";
  // The same of a loss that was never large.
  LossWatch small;
  for (int step = 1; step <= 100; ++step) ASSERT_FALSE(watch_loss(small, {step}, 1e-4, true));
  for (int step = 101; step <= 105; ++step) trouble = watch_loss(small, {step}, 1e-3, true);
  EXPECT_TRUE(trouble);
}

TEST(LossWatch, WhatIsNotANumberIsTroubleAtOnce) {
  LossWatch watch;
  const auto trouble = watch_loss(watch, {7}, std::numeric_limits<double>::infinity(), false);
  ASSERT_TRUE(trouble.has_value());
  EXPECT_EQ(trouble->cause, Cause::nan);
}

TEST(LeakWatch, FindsTheEndOfASteadyLeakAndNothingElse) {
  LeakWatch leak;
  LeakWatch flat;
  for (std::int64_t i = 0; i < 32; ++i) {
    add_sample(leak, {i * 10'000}, (1'000 + i * 20) << 20U);
    add_sample(flat, {i * 10'000}, (1'000 + i % 3) << 20U);
  }
  const auto left = exhausted_in_ms(leak, 200LL << 20U);
  ASSERT_TRUE(left.has_value());
  EXPECT_NEAR(static_cast<double>(*left), 100'000, 1'000);
  EXPECT_FALSE(exhausted_in_ms(flat, 200LL << 20U));
}

TEST(Faults, ThreeOfAKindAfterTheSameStepsAreAPattern) {
  Faults faults;
  for (const std::int64_t survived : {4, 5, 4})
    remember(faults, {Cause::device_oom, survived, survived, 1, 0});
  EXPECT_EQ(regular_limit(faults), 4);
  Faults full_disk;
  for (int i = 0; i < 3; ++i) remember(full_disk, {Cause::disk, 4, 4, 1, 0});
  EXPECT_FALSE(regular_limit(full_disk)) << "a fresh process does not cure it";
  remember(faults, {Cause::device_oom, 40, 40, 1, 0});
  EXPECT_FALSE(regular_limit(faults));
}

TEST(Faults, CheckpointsComeOftenerTheShorterTheLife) {
  EXPECT_EQ(checkpoint_interval(20'000, 0, 0, 1'000, 100), 0) << "no failure yet";
  EXPECT_EQ(checkpoint_interval(1, 0, 1, 60'000, 100), 1);
  // A copy costs nothing, but its write lasts three steps.
  EXPECT_EQ(checkpoint_interval(1, 170'000, 240'000, 60'000, 100), 3);
  std::int64_t before = 0;
  for (std::int64_t life = 60'000; life <= 64 * 60'000; life *= 2) {
    const std::int64_t steps = checkpoint_interval(20'000, 0, life, 10'000, 100'000);
    EXPECT_GE(steps, before);
    before = steps;
  }
}

TEST(Boards, QuarantineDoublesEndsAndIsFollowedByProbation) {
  BoardRecord board;
  const Quarantine rules;
  WallTime now{1'000 * hour};
  EXPECT_FALSE(add_fault(board, "link", rules, now));
  EXPECT_FALSE(add_fault(board, "link", rules, now + 1));
  EXPECT_TRUE(add_fault(board, "link", rules, now + 2));
  const std::int64_t first = board.quarantined_until_wall_ms - (now + 2);
  EXPECT_TRUE(quarantined(board, now + 3));
  now = board.quarantined_until_wall_ms;
  EXPECT_FALSE(quarantined(board, now));
  EXPECT_TRUE(add_fault(board, "link", rules, now)) << "on probation one fault is enough";
  EXPECT_EQ(board.quarantined_until_wall_ms - now, 2 * first);
}

TEST(Boards, ADayOfServiceEndsTheProbation) {
  BoardRecord board;
  const Quarantine rules;
  quarantine(board, "link", rules, {1'000 * hour});
  const WallTime out = board.quarantined_until_wall_ms;
  EXPECT_FALSE(add_service(board, rules, out + 23 * hour));
  EXPECT_TRUE(add_service(board, rules, out + 25 * hour));
  EXPECT_FALSE(board.probation);
}

TEST(Plan, EveryRungNeedsLessAndKeepsTheWorkWhileItCan) {
  const auto rungs = plan_ladder({8, 1024, 64, true, true});
  EXPECT_EQ(rungs.size(), 1U + 1U + 3U + 4U);
  for (std::size_t i = 1; i < rungs.size(); ++i) {
    EXPECT_EQ(rungs[i].batch * rungs[i].accumulation, 8);
    EXPECT_LE(rungs[i].batch * rungs[i].block, rungs[i - 1].batch * rungs[i - 1].block);
    EXPECT_GE(rungs[i].block, 64);
  }
  EXPECT_EQ(plan_ladder({8, 0, 0, false, true, 4}).size(), 2U) << "4 devices share 4 sequences";
  EXPECT_EQ(plan_ladder({8, 0, 0, false, true, 8}).size(), 1U);
  EXPECT_EQ(plan_ladder({2, 0, 0, false, true, 4}).size(), 2U) << "they deal out whole batches";
  EXPECT_EQ(plan_ladder({}).size(), 1U) << "a worker that understands nothing is never asked";
}

TEST(Plan, AFailedRungIsTriedAgainLaterEachTime) {
  const Shrinking shrinking{8, 0, 0, false, true};
  PlanMemory memory;
  WallTime now{1'000 * hour};
  ASSERT_TRUE(shrink(memory, shrinking, now));
  memory.good_steps = 1'000;
  EXPECT_FALSE(probe_up(memory, now + hour / 2));
  EXPECT_TRUE(probe_up(memory, now + hour));
  EXPECT_EQ(memory.rung, 0);
  now += hour;
  ASSERT_TRUE(shrink(memory, shrinking, now));
  memory.good_steps = 1'000;
  EXPECT_FALSE(probe_up(memory, now + hour));
  EXPECT_TRUE(probe_up(memory, now + 2 * hour));
}

}  // namespace
}  // namespace trainward::core

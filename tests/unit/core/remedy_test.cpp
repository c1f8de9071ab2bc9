#include "supervisor/core/remedy.hpp"

#include <gtest/gtest.h>

namespace trainward::core {
namespace {

TEST(Remedy, RungsThatAreNotPossibleArePassedOver) {
  State state;
  const Policy policy;  // no reset command, nothing to shrink
  EXPECT_EQ(climb(state, policy, "hang", false), Remedy::retry);
  EXPECT_EQ(climb(state, policy, "hang", false), Remedy::purge_caches);
}

TEST(Remedy, ADeterministicFaultIsNotSimplyRetried) {
  State state;
  const Policy policy;
  EXPECT_EQ(climb(state, policy, "hang", true), Remedy::purge_caches);
  EXPECT_EQ(climb(state, policy, "hang", true), Remedy::stop) << "no board to put away";
}

TEST(Remedy, WhatAWaitMayCureIsWaitedForWithoutEnd) {
  State state;
  const Policy policy;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(climb(state, policy, "network", false), Remedy::retry);
}

TEST(Remedy, EveryLadderEndsAndIsClimbedOncePerRung) {
  Policy policy;
  policy.can_reset = true;
  policy.shrinking = {8, 1024, 64, true, true};
  for (const char* cause : {"device_oom", "host_oom", "hang", "ethernet", "device_busy", "nan",
                            "cache_corrupt", "data", "resume_contract", "crash"}) {
    State state;
    state.board = "A";
    state.resume_step = 10;
    const auto rungs = ladder(cause);
    ASSERT_EQ(rungs.back(), Remedy::stop) << cause;
    for (std::size_t i = 0; i + 1 < rungs.size(); ++i) {
      EXPECT_EQ(climb(state, policy, cause, false), rungs[i]) << cause << " rung " << i;
    }
  }
}

}  // namespace
}  // namespace trainward::core

#include <gtest/gtest.h>

#include "supervisor/decide/core/turn/retry.hpp"

namespace trainward::core {
namespace {

TEST(Remedy, RungsThatAreNotPossibleArePassedOver) {
  State state;
  const Policy policy;  // no reset command, nothing to shrink
  EXPECT_EQ(climb(state, policy, Cause::hang, false), Remedy::retry);
  EXPECT_EQ(climb(state, policy, Cause::hang, false), Remedy::purge_caches);
}

TEST(Remedy, ADeterministicFaultIsNotSimplyRetried) {
  State state;
  const Policy policy;
  EXPECT_EQ(climb(state, policy, Cause::hang, true), Remedy::purge_caches);
  EXPECT_EQ(climb(state, policy, Cause::hang, true), Remedy::stop) << "no board to put away";
}

TEST(Remedy, WhatAWaitMayCureIsWaitedForWithoutEnd) {
  State state;
  const Policy policy;
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(climb(state, policy, Cause::network, false), Remedy::retry);
}

TEST(Remedy, EveryLadderEndsAndIsClimbedOncePerRung) {
  Policy policy;
  policy.can_reset = true;
  policy.shrinking = {8, 1024, 64, true, true};
  for (const CauseFacts& row : causes) {
    if (row.ladder.back() != Remedy::stop) continue;
    State state;
    state.boards.board = "A";
    state.current.resume_step = {10};
    for (std::size_t i = 0; i + 1 < row.ladder.size; ++i) {
      EXPECT_EQ(climb(state, policy, row.cause, false), row.ladder.rungs.at(i))
          << row.name << " rung " << i;
    }
  }
}

}  // namespace
}  // namespace trainward::core

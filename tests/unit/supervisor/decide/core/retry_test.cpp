#include "supervisor/decide/core/turn/retry.hpp"

#include <gtest/gtest.h>

namespace trainward::core {
namespace {

TEST(Backoff, DoublesIsBoundedAndSpreads) {
  const Backoff backoff{1'000, 60'000};
  for (std::uint64_t salt = 0; salt < 1'000; ++salt) {
    for (int failures = 1; failures < 40; ++failures) {
      std::int64_t whole = 60'000;
      if (failures < 7) whole = std::min<std::int64_t>(1'000LL << (failures - 1), 60'000);
      const std::int64_t wait = backoff_ms(backoff, failures, salt);
      EXPECT_GE(wait, whole / 2);
      EXPECT_LE(wait, whole);
    }
  }
  EXPECT_NE(backoff_ms(backoff, 6, 1), backoff_ms(backoff, 6, 2));
}

TEST(DecideNext, TheAttemptBudgetIsInAll) {
  Policy policy;
  policy.budgets.attempts = 10;
  State state;
  state.history.charged_attempts = 10;
  Verdict verdict;
  verdict.cause = Cause::device_oom;
  const Next next = decide_next(state, policy, verdict);
  EXPECT_EQ(next.kind, Next::Kind::give_up);
  EXPECT_NE(next.why.find("10 attempts"), std::string::npos);
}

TEST(DecideNext, AutorestartAlwaysGoesOnAfterDone) {
  Policy policy;
  policy.autorestart = Autorestart::always;
  Verdict verdict;
  verdict.cause = Cause::done;
  EXPECT_EQ(decide_next(State{}, policy, verdict).kind, Next::Kind::at_once);
  policy.autorestart = Autorestart::never;
  verdict.cause = Cause::crash;
  EXPECT_EQ(decide_next(State{}, policy, verdict).kind, Next::Kind::finished);
}

}  // namespace
}  // namespace trainward::core

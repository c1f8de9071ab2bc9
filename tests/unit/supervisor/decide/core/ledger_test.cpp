#include "supervisor/decide/core/turn/ledger.hpp"

#include <gtest/gtest.h>

namespace trainward::core {
namespace {

std::vector<RecordSpan> spans(const Actions& actions) {
  std::vector<RecordSpan> found;
  for (const Action& action : actions) {
    if (const auto* span = std::get_if<RecordSpan>(&action)) found.push_back(*span);
  }
  return found;
}

TEST(Ledger, SpansTouch) {
  State state;
  Actions actions;
  book(state, Phase::loading, Cause::none, {1000, 100}, actions);
  book(state, Phase::loading, Cause::none, {1050, 150}, actions);  // the same phase goes on
  book(state, Phase::stepping, Cause::none, {1200, 300}, actions);
  close_ledger(state, {1500, 600}, actions);
  const auto found = spans(actions);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].duration_ms, 200);
  EXPECT_EQ(found[0].begin_wall_ms + found[0].duration_ms, found[1].begin_wall_ms);
  EXPECT_EQ(found[1].duration_ms, 300);
}

TEST(Ledger, AnAttemptsTimeStaysItsOwn) {
  State state;
  Actions actions;
  state.attempt = 1;
  book(state, Phase::stepping, Cause::none, {0, 0}, actions);
  state.attempt = 2;
  book(state, Phase::probing, Cause::hang, {10, 10}, actions);
  EXPECT_EQ(spans(actions).at(0).attempt, 1);
}

TEST(Ledger, AClockThatWentBackCostsNothing) {
  State state;
  Actions actions;
  book(state, Phase::stepping, Cause::none, {1000, 1000}, actions);
  close_ledger(state, {900, 900}, actions);  // another boot
  EXPECT_TRUE(spans(actions).empty());
}

}  // namespace
}  // namespace trainward::core

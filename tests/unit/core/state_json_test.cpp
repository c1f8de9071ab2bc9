#include <gtest/gtest.h>

#include "supervisor/core/state.hpp"

namespace trainward::core {
namespace {

TEST(StateJson, RoundTrip) {
  State state;
  state.stage = Stage::killing;
  state.wanted = true;
  state.reason = "killing: \"quoted\"\n";
  state.attempt = 12;
  state.board = "0100014511708037";
  state.resume_from = "/x/step-00000020";
  state.resume_step = 20;
  state.first_step = 21;
  state.last_step = 33;
  state.highest_step = 45;
  state.kept_step = 30;
  state.kept_at_launch = 20;
  state.last_loss = 2.75;
  state.kill = Kill{Cause::hang, "silent"};
  state.last_cause = Cause::device_oom;
  state.attempts_without_progress = 2;
  state.deadline_mono_ms = 99;
  state.progress_mono_ms = 98;
  state.step_times_ms = {5, 6, 7};
  state.boards = {{"A", "OK"}, {"B", "REMOTE_LOST"}};
  state.span = OpenSpan{12, Phase::stepping, Cause::none, {1, 2}};
  state.pid = 77;
  state.restart_when_stopped = true;
  state.rungs = {{Cause::hang, 2}};
  state.repairs = {Remedy::reset_board};
  auto again = state_from_json(parse_json(json::serialize(to_json(state)), "test").value());
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(*again, state);
}

TEST(StateJson, EveryStageHasItsWord) {
  for (int i = 0; i <= static_cast<int>(Stage::fatal); ++i) {
    const auto stage = static_cast<Stage>(i);
    EXPECT_EQ(stage_from(to_string(stage)), stage);
  }
}

// What another release wrote, in words that this one does not know.
TEST(StateJson, WordsOfAnotherReleaseAreTakenForWhatTheyMayBe) {
  const auto state = state_from_json(parse_json(R"({"stage": "backoff", "wanted": true,
      "last_cause": "sunspots", "rungs": {"hang": 1, "sunspots": 4, "unreadable": 2},
      "repairs": ["turn_round", "purge_caches"], "kill": {"cause": "nan", "why": "w"},
      "faults": [{"cause": "sunspots", "step": 3}]})",
                                                "test")
                                         .value());
  ASSERT_TRUE(state.has_value()) << state.error().message();
  EXPECT_EQ(state->last_cause, Cause::unknown);
  EXPECT_EQ(state->rungs, (std::map<Cause, int>{{Cause::hang, 1}}));
  EXPECT_EQ(state->repairs, std::vector{Remedy::purge_caches});
  EXPECT_EQ(state->kill->cause, Cause::nan);
  EXPECT_EQ(state->faults.at(0).cause, Cause::unknown);
}

TEST(StateJson, GarbageIsRefusedWithItsReason) {
  EXPECT_FALSE(state_from_json(json::array()).has_value());
  auto unknown = state_from_json(json::object{{"stage", "flying"}, {"wanted", true}});
  ASSERT_FALSE(unknown.has_value());
  EXPECT_NE(unknown.error().what.find("flying"), std::string::npos);
}

}  // namespace
}  // namespace trainward::core

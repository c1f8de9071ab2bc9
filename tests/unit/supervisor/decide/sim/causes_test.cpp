// Whatever a crash rule may say of a worker's end, the promises are kept, and what is done about it
// is a rung of its ladder.
#include <gtest/gtest.h>

#include <algorithm>

#include "supervisor/decide/sim/policies.hpp"
#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/world.hpp"

namespace trainward::sim {
namespace {

// Collects how attempts ended.
Decider watching(const Setup& setup, std::vector<core::RecordAttemptEnded>& ended) {
  Decider decider = core_decider(setup);
  decider.step = [&ended](core::State& state, const core::Event& event, const core::Policy& policy,
                          Time now, core::Actions& actions) {
    const std::size_t before = actions.size();
    core::step(state, event, policy, now, actions);
    for (const core::Action& action : std::span(actions).subspan(before)) {
      if (const auto* end = std::get_if<core::RecordAttemptEnded>(&action)) ended.push_back(*end);
    }
  };
  return decider;
}

TEST(Causes, EveryOneThatARuleMayNameIsSurvived) {
  for (const core::CauseFacts& row : core::causes) {
    if (!row.in_rules) continue;
    Scenario scenario = *make_scenario("calm", 1, 4);
    for (int i = 0; i < 6; ++i) {
      scenario.injections.push_back({6 * hour_ms + i * 20 * minute_ms, Fault::error,
                                     static_cast<std::int64_t>(row.cause), Moment::train});
    }
    std::vector<core::RecordAttemptEnded> ended;
    const Outcome outcome = play(scenario, watching(scenario.setup, ended));
    EXPECT_FALSE(outcome.violation.has_value()) << row.name;
    int seen = 0;
    for (const core::RecordAttemptEnded& end : ended) {
      if (end.cause != row.cause) continue;
      ++seen;
      ASSERT_TRUE(end.remedy.has_value()) << row.name;
      const bool rung = std::ranges::find(row.ladder, *end.remedy) != row.ladder.end();
      EXPECT_TRUE(rung || end.remedy == core::Remedy::retry || end.remedy == core::Remedy::stop)
          << row.name << ": " << to_string(*end.remedy);
    }
    EXPECT_GT(seen, 0) << row.name;
  }
}

}  // namespace
}  // namespace trainward::sim

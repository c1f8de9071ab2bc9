// A fortnight of chaos, two thousand times over: every promise of the supervisor holds.
#include <gtest/gtest.h>

#include <cstdio>

#include "supervisor/sim/policies.hpp"
#include "supervisor/sim/scenario.hpp"
#include "supervisor/sim/shrink.hpp"
#include "supervisor/sim/trace.hpp"
#include "supervisor/sim/world.hpp"

namespace trainward::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t chaos_seeds = 100;
constexpr std::uint64_t named_seeds = 5;
#else
constexpr std::uint64_t chaos_seeds = 2'000;
constexpr std::uint64_t named_seeds = 20;
#endif

Outcome play_ours(const Scenario& scenario) {
  const auto decider = make_decider("trainward", scenario.setup);
  return play(scenario, *decider);
}

void expect_promises(const std::string& name, std::uint64_t first, std::uint64_t last) {
  std::int64_t events = 0;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    const Scenario scenario = *make_scenario(name, seed, 14);
    const Outcome outcome = play_ours(scenario);
    events += outcome.events;
    if (!outcome.violation) continue;
    const Scenario small = shrink(
        scenario, outcome.violation->promise,
        [](const Scenario& s) { return play_ours(s).violation; }, 200);
    FAIL() << "seed " << seed << ": " << to_string(outcome.violation->promise) << ": "
           << outcome.violation->what << "\n\n"
           << to_text(small);
  }
  std::printf("%s: seeds %llu to %llu, 14 days each, %lld events\n", name.c_str(),
              static_cast<unsigned long long>(first), static_cast<unsigned long long>(last),
              static_cast<long long>(events));
}

// In four parts, so that they can run beside each other.
class Chaos : public ::testing::TestWithParam<std::uint64_t> {};
TEST_P(Chaos, EveryPromiseHolds) {
  const std::uint64_t part = chaos_seeds / 4;
  expect_promises("chaos", GetParam() * part + 1, (GetParam() + 1) * part);
}
INSTANTIATE_TEST_SUITE_P(Quarter, Chaos, ::testing::Values(0, 1, 2, 3));

class Named : public ::testing::TestWithParam<std::string> {};
TEST_P(Named, EveryPromiseHolds) { expect_promises(GetParam(), 1, named_seeds); }
INSTANTIATE_TEST_SUITE_P(Scenario, Named,
                         ::testing::Values("calm", "n300-port", "leaky-host", "flaky-ethernet",
                                           "nan", "disk-full", "daemon-killed"));

TEST(Simulation, TheSameSeedIsTheSameWorld) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    const Scenario scenario = *make_scenario("chaos", seed, 14);
    const Outcome first = play_ours(scenario);
    const Outcome second = play_ours(scenario);
    EXPECT_EQ(first.digest, second.digest);
    EXPECT_EQ(first.state, second.state);
    EXPECT_EQ(first.events, second.events);
  }
  EXPECT_NE(play_ours(*make_scenario("chaos", 1, 14)).digest,
            play_ours(*make_scenario("chaos", 2, 14)).digest);
}

TEST(Simulation, AScenarioSurvivesItsText) {
  const Scenario scenario = *make_scenario("chaos", 3, 14);
  const auto again = scenario_from_text(to_text(scenario));
  ASSERT_TRUE(again.has_value()) << again.error().message();
  EXPECT_EQ(play_ours(*again).digest, play_ours(scenario).digest);
}

TEST(Simulation, TextThatIsNoScenarioIsRefusedWithItsLine) {
  const auto bad = scenario_from_text("scenario chaos\nat 1d00:00:00.000 earthquake 1\n");
  ASSERT_FALSE(bad.has_value());
  EXPECT_NE(bad.error().message().find("line 2"), std::string::npos);
}

}  // namespace
}  // namespace trainward::sim

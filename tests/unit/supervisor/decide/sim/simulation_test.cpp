// Fortnights in a simulated world: every promise of the supervisor holds.
#include "promises.hpp"

namespace trainward::sim {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t chaos_seeds = 20;
constexpr std::uint64_t named_seeds = 5;
#else
constexpr std::uint64_t chaos_seeds = 200;
constexpr std::uint64_t named_seeds = 20;
#endif

TEST(Chaos, EveryPromiseHoldsForTheFirstSeeds) { expect_promises("chaos", 1, chaos_seeds); }

class Named : public ::testing::TestWithParam<std::string> {};
TEST_P(Named, EveryPromiseHolds) { expect_promises(GetParam(), 1, named_seeds); }
INSTANTIATE_TEST_SUITE_P(Scenario, Named,
                         ::testing::Values("calm", "n300-port", "leaky-host", "flaky-ethernet",
                                           "mesh", "nan", "disk-full", "daemon-killed"));

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

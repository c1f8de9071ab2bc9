#include "supervisor/decide/sim/compare.hpp"

#include <gtest/gtest.h>

#include "supervisor/decide/sim/scenario.hpp"
#include "supervisor/decide/sim/sim_command.hpp"

namespace trainward::sim {
namespace {

std::vector<Row> over_seeds(std::string_view name) {
  std::vector<Scenario> scenarios;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    scenarios.push_back(*make_scenario(name, seed, 14));
  }
  return compare(scenarios);
}

TEST(Compare, OursGetsFurtherThanRetryingAndRetryingFurtherThanTheWrapper) {
  for (const char* name : {"n300-port", "leaky-host", "flaky-ethernet"}) {
    SCOPED_TRACE(name);
    const auto rows = over_seeds(name);
    ASSERT_EQ(rows.size(), 3U);
    EXPECT_GE(rows[1].steps, rows[0].steps);
    EXPECT_GE(rows[2].steps, rows[1].steps);
    EXPECT_GE(rows[2].effective, rows[1].effective);
  }
}

TEST(Compare, WithoutFaultsNothingIsLost) {
  const auto rows = over_seeds("calm");
  EXPECT_GT(rows[2].effective, 0.95);
  EXPECT_EQ(rows[2].executed, rows[2].steps);
}

TEST(Compare, SeedsAreANumberOrARange) {
  Request request;
  EXPECT_TRUE(read_seeds("3-9", request));
  EXPECT_EQ(request.first_seed, 3U);
  EXPECT_EQ(request.last_seed, 9U);
  EXPECT_FALSE(read_seeds("9-3", request));
  EXPECT_FALSE(read_seeds("seven", request));
}

}  // namespace
}  // namespace trainward::sim

// The named scenarios: how a seed becomes a set-up and a list of faults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/decide/sim/parts/setup.hpp"

namespace trainward::sim {

struct ScenarioName {
  std::string_view name;
  std::string_view what;  // one line
};
const std::vector<ScenarioName>& scenario_names();

// Nothing for a name that does not exist.
std::optional<Scenario> make_scenario(std::string_view name, std::uint64_t seed, std::int64_t days);

}  // namespace trainward::sim

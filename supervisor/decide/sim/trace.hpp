// A scenario as text: complete, readable, and read back for a replay.
//
//   scenario chaos
//   seed 7
//   step_ms 120000            only what differs from the usual set-up
//   at 1d02:03:04.005 daemon_killed 1
//   at 1d02:10:00.000 hang 0 in compile
//
// Reading fails with the line that is wrong.
#pragma once

#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "supervisor/decide/sim/parts/setup.hpp"

namespace trainward::sim {

std::string to_text(const Scenario& scenario);
Result<Scenario> scenario_from_text(std::string_view text);

// "1d02:03:04.005"
std::string true_time(std::int64_t ms);

}  // namespace trainward::sim

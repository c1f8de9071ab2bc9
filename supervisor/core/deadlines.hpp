// How long a stage may go on without progress before it counts as a hang.
#pragma once

#include <cstdint>

#include "supervisor/core/policy.hpp"
#include "supervisor/core/state.hpp"

namespace trainward::core {

// Milliseconds; 0: this stage has no deadline of its own. Training learns: ten times the 99th
// percentile of the run's own recent steps, and never less than the configured floor.
std::int64_t allowed_ms(const State& state, const Policy& policy);

// Keeps the newest 128 step times.
void learn_step_time(State& state, std::int64_t ms);

}  // namespace trainward::core

// How long a stage may go on without progress before it counts as a hang.
#pragma once

#include <cstdint>

#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

// Milliseconds; 0: this stage has no deadline of its own. Training learns: ten times the 99th
// percentile of the run's own recent steps, and never less than the configured floor. Before there
// is any, what loading is allowed.
std::int64_t allowed_ms(const State& state, const Policy& policy);

// The middle one of the run's recent step times; 0: none yet.
std::int64_t usual_step_ms(const State& state);

// Whether silence in training proves nothing yet, and processor and disk are to be asked as well:
// of a program that shows no steps; of a foreign one whose steps have not been seen to come apart,
// or that has come to where one before it was called hung.
bool silence_is_no_proof(const State& state, const Policy& policy);
// It shows nothing at all: neither steps nor anything that we know how to read.
bool shows_nothing(const State& state, const Policy& policy);
// It has shown steps in attempts before, and none in this one.
bool stepped_before(const State& state);

// How often to ask what a silent worker uses, in a stage with this deadline: often enough that the
// deadline is kept to within a sixteenth, and at most a minute.
std::int64_t activity_interval_ms(std::int64_t allowed);

// Keeps the newest 128 step times.
void learn_step_time(State& state, const Policy& policy, std::int64_t ms);

}  // namespace trainward::core

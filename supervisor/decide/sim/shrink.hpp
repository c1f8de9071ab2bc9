// Makes a failing scenario small: fewer faults, the usual set-up, a short run, and the same promise
// still broken. Delta debugging; what it returns is a scenario like any other.
#pragma once

#include <functional>
#include <optional>

#include "supervisor/decide/sim/invariants.hpp"
#include "supervisor/decide/sim/parts/setup.hpp"

namespace trainward::sim {

using Trial = std::function<std::optional<Violation>(const Scenario&)>;

// `failing` must break `promise` when `trial` plays it. Plays at most `most_trials` more.
Scenario shrink(Scenario failing, Promise promise, const Trial& trial, int most_trials = 600);

}  // namespace trainward::sim

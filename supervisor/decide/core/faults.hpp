// The newest attempts that failed, and what their pattern says.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/step.hpp"
#include "supervisor/decide/core/cause.hpp"
#include "supervisor/decide/core/policy.hpp"

namespace trainward::core {

struct Fault {
  Cause cause = Cause::none;
  Step step;                  // last step finished
  std::int64_t survived = 0;  // steps the attempt finished
  std::int64_t lived_ms = 0;  // from the launch
  int rung = 0;               // of the plan
  friend bool operator==(const Fault&, const Fault&) = default;
};
BOOST_DESCRIBE_STRUCT(Fault, (), (cause, step, survived, lived_ms, rung))

// Oldest first, the newest 8 are kept.
using Faults = std::vector<Fault>;
void remember(Faults& faults, Fault fault);

// The same class at the same step twice in a row: trying again cannot help, whatever the rules say.
bool deterministic(const Faults& faults);
// The same, whether or not they did a step.
bool again_there(const Faults& faults);

// The newest one came after more steps than the one of its class before it, or is the first.
bool came_further(const Faults& faults);

// A fault that arrives like clockwork: the last three of one class, on one plan, after the same
// number of steps (give or take a tenth). The smallest of them; nothing when there is no pattern.
std::optional<std::int64_t> regular_limit(const Faults& faults);

// Milliseconds an attempt lives on average before it fails; 0: no failure yet.
std::int64_t mean_life_ms(const Faults& faults);

// What is expected next of a cost that varies; `before` 0: nothing was seen yet.
constexpr std::int64_t smoothed(std::int64_t before, std::int64_t seen) {
  return before == 0 ? seen : (3 * before + seen) / 4;
}

// Young and Daly: sqrt(2 · cost of a save · mean time between failures), in whole steps, at least 1
// and at most `max_steps`; but never sooner than a save that goes on beside the training is written
// (`save_write_ms`). 0: nothing is known, or nothing shorter than configured is needed.
std::int64_t checkpoint_interval(std::int64_t save_cost_ms, std::int64_t save_write_ms,
                                 std::int64_t mean_life_ms, std::int64_t step_ms,
                                 std::int64_t max_steps);

}  // namespace trainward::core

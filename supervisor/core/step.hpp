// The whole decision logic of one program: (state, event, time) → (state, actions).
//
// Pure: no I/O, no clock, no thread, no global. The caller commits the new state together with the
// record actions in one transaction, then carries out the side effects in order and feeds their
// results back as events. Events that do not fit the state (a heartbeat of a worker that has been
// reaped, a second exit) change nothing.
#pragma once

#include "supervisor/core/action.hpp"
#include "supervisor/core/event.hpp"
#include "supervisor/core/policy.hpp"
#include "supervisor/core/state.hpp"

namespace trainward::core {

struct Outcome {
  State state;
  Actions actions;
};

Outcome step(State state, const Event& event, const Policy& policy, Time now);

}  // namespace trainward::core

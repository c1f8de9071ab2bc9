// The whole decision logic of one program: (state, event, time) → (state, actions).
//
// No I/O, no clock, no thread, no global: what comes out depends on what goes in alone. The caller
// commits the new state together with the record actions in one transaction, then carries out the
// side effects in order and feeds their results back as events. Events that do not fit the state (a
// heartbeat of a worker that has been reaped, a second exit) change nothing.
#pragma once

#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/decide/core/policy.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

// `state` becomes what it is after the event; what is to be done is appended to `actions`. In
// place, because a state has fifty members and an event mostly changes five of them.
void step(State& state, const Event& event, const Policy& policy, Time now, Actions& actions);

}  // namespace trainward::core

// The phase ledger: every second a program is wanted belongs to exactly one phase, with its cause.
// Spans touch: one ends where the next begins, measured by the monotonic clock.
#pragma once

#include "supervisor/decide/core/action.hpp"
#include "supervisor/decide/core/state.hpp"

namespace trainward::core {

// From `at` on, time belongs to `phase`. Does nothing when it does already.
void book(State& state, Phase phase, Cause cause, Time at, Actions& actions);

// Closes the open span: the program is no longer wanted.
void close_ledger(State& state, Time at, Actions& actions);

// The open span is of training that was taken for new steps until its first step was seen: they had
// been done before.
void rebook_as_replay(State& state, Cause cause);

// The time since the last sign of progress did not go where it seemed to go: it was lost to
// `cause`.
void rebook_since_progress(State& state, Cause cause, Time at, Actions& actions);

}  // namespace trainward::core

#include "supervisor/decide/core/turn/ledger.hpp"

#include <algorithm>

namespace trainward::core {

void close_ledger(State& state, Time at, Actions& actions) {
  if (!state.span) return;
  const std::int64_t duration = std::max<std::int64_t>(at.mono - state.span->since.mono, 0);
  if (duration > 0) {
    actions.emplace_back(RecordSpan{state.span->attempt, state.span->phase, state.span->cause,
                                    state.span->since.wall, duration});
  }
  state.span.reset();
}

void book(State& state, Phase phase, Cause cause, Time at, Actions& actions) {
  if (state.span && state.span->phase == phase && state.span->cause == cause) return;
  close_ledger(state, at, actions);
  state.span = OpenSpan{state.attempt, phase, cause, at};
}

void rebook_as_replay(State& state, Cause cause) {
  if (!state.span || state.span->attempt != state.attempt) return;
  if (state.span->phase != Phase::stepping) return;
  state.span->phase = Phase::replaying;
  state.span->cause = cause;
}

void rebook_since_progress(State& state, Cause cause, Time at, Actions& actions) {
  if (!state.span) return;
  const std::int64_t lost =
      at.mono - std::max(state.watch.progress_mono_ms, state.span->since.mono);
  if (lost <= 0) return;
  book(state, Phase::down, cause, {at.wall - lost, at.mono - lost}, actions);
}

}  // namespace trainward::core

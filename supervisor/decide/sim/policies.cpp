#include "supervisor/decide/sim/policies.hpp"

#include <algorithm>

namespace trainward::sim {
namespace {

constexpr Habits plain_habits{false, false, false};

bool ends_attempt(const core::Event& event) {
  return std::holds_alternative<core::WorkerExited>(event) ||
         std::holds_alternative<core::AttemptLost>(event) ||
         std::holds_alternative<core::LaunchFailed>(event);
}
bool is_done(const core::Event& event) {
  const auto* exit = std::get_if<core::WorkerExited>(&event);
  return exit != nullptr && exit->code == 0;
}
bool worker_runs(const core::State& state) { return core::has_worker(state.stage); }

bool woken(const core::State& state, const core::Event& event, Time now) {
  return std::holds_alternative<core::TimerFired>(event) && state.watch.deadline_mono_ms &&
         now.mono >= *state.watch.deadline_mono_ms;
}

void launch(core::State& state, const std::string& resume_from, core::Actions& actions) {
  ++state.attempt;
  state.stage = core::Stage::launching;
  state.watch.deadline_mono_ms.reset();
  actions.emplace_back(core::Launch{state.attempt, "", resume_from, {}});
}

void wrap(core::State& state, const core::Event& event, const core::Policy& /*policy*/, Time now,
          core::Actions& actions) {
  constexpr int most_attempts = 5;
  constexpr std::int64_t between_looks = 30 * minute_ms;
  if (std::holds_alternative<core::StartRequested>(event) && !worker_runs(state)) {
    state.wanted = true;
    state.history.attempts_without_progress = 1;
    state.current.launched_mono_ms = now.mono;
    return launch(state, "", actions);
  }
  // A person who finds it hanging kills it and restarts the script.
  if (std::holds_alternative<core::RestartRequested>(event) && worker_runs(state)) {
    state.history.attempts_without_progress = 0;
    actions.emplace_back(core::SendSignal{core::Signal::kill});
    return;
  }
  if (ends_attempt(event)) {
    state.stage = is_done(event) ? core::Stage::exited : core::Stage::backoff;
    if (is_done(event)) return;
    if (state.history.attempts_without_progress >= most_attempts) {
      state.stage = core::Stage::fatal;
      return;
    }
    const std::int64_t looks = (now.mono - state.current.launched_mono_ms) / between_looks + 1;
    state.watch.deadline_mono_ms = state.current.launched_mono_ms + looks * between_looks;
    return;
  }
  if (!woken(state, event, now)) return;
  ++state.history.attempts_without_progress;
  return launch(state, "", actions);
}

void retry(core::State& state, const core::Event& event, const core::Policy& /*policy*/, Time now,
           core::Actions& actions) {
  if (std::holds_alternative<core::StartRequested>(event) && !worker_runs(state)) {
    state.wanted = true;
    state.history.attempts_without_progress = 0;
    state.stage = core::Stage::selecting;
    actions.emplace_back(core::SelectCheckpoint{});
    return;
  }
  if (std::holds_alternative<core::RestartRequested>(event) && worker_runs(state)) {
    actions.emplace_back(core::SendSignal{core::Signal::kill});
    return;
  }
  if (const auto* chosen = std::get_if<core::CheckpointSelected>(&event)) {
    state.current.resume_step = chosen->step;
    return launch(state, chosen->path, actions);
  }
  if (std::holds_alternative<core::CheckpointReported>(event))
    state.history.attempts_without_progress = 0;
  if (ends_attempt(event)) {
    state.stage = is_done(event) ? core::Stage::exited : core::Stage::backoff;
    if (is_done(event)) return;
    state.watch.deadline_mono_ms =
        now.mono +
        std::min<std::int64_t>(second_ms << std::min(state.history.attempts_without_progress++, 9),
                               5 * minute_ms);
    return;
  }
  if (!woken(state, event, now)) return;
  state.watch.deadline_mono_ms.reset();
  state.stage = core::Stage::selecting;
  actions.emplace_back(core::SelectCheckpoint{});
}

}  // namespace

Decider core_decider(const Setup& setup) { return {policy_for(setup)}; }

Decider wrapper_decider(const Setup& /*setup*/) {
  return {core::Policy{}, wrap, plain_habits, false};
}

Decider retry_decider(const Setup& /*setup*/) {
  return {core::Policy{}, retry, plain_habits, false};
}

core::Policy policy_for(const Setup& setup) {
  core::Policy policy;
  policy.needs_board = setup.needs_board != 0;
  policy.can_reset = setup.can_reset != 0;
  policy.speaks = setup.speaks != 0;
  policy.watch_cpu = setup.speaks == 0;
  policy.saves_when_asked = setup.saves_when_asked != 0;
  if (setup.obeys_plan != 0) {
    constexpr std::int64_t smallest_block = 64;
    policy.shrinking = {setup.batch, setup.block, smallest_block, true, true};
    policy.cadence.max_steps = std::max<std::int64_t>(setup.save_every_ms / setup.step_ms, 1);
  }
  return policy;
}

}  // namespace trainward::sim

#include "supervisor/sim/policies.hpp"

#include <algorithm>

namespace trainward::sim {
namespace {

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

}  // namespace

bool PlainDecider::woken(const core::Event& event, Time now) const {
  return std::holds_alternative<core::TimerFired>(event) && wake_ms_ != 0 &&
         now.mono_ms >= wake_ms_;
}

core::Actions WrapperDecider::launch() {
  ++attempts_here_;
  ++state_.attempt;
  state_.stage = core::Stage::launching;
  wake_ms_ = 0;
  return {core::Launch{state_.attempt, "", "", {}}};
}

core::Actions WrapperDecider::decide(const core::Event& event, Time now) {
  constexpr int most_attempts = 5;
  if (std::holds_alternative<core::StartRequested>(event) && !worker_runs(state_)) {
    state_.wanted = true;
    attempts_here_ = 0;
    first_look_ms_ = now.mono_ms;
    return launch();
  }
  // Somebody who finds it hanging kills it and starts the script anew.
  if (std::holds_alternative<core::RestartRequested>(event) && worker_runs(state_)) {
    attempts_here_ = 0;
    return {core::SendSignal{core::Signal::kill}};
  }
  if (ends_attempt(event)) {
    state_.stage = is_done(event) ? core::Stage::exited : core::Stage::backoff;
    if (is_done(event)) return {};
    if (attempts_here_ >= most_attempts) {
      state_.stage = core::Stage::fatal;
      return {};
    }
    constexpr std::int64_t between_looks = 30 * minute_ms;
    const std::int64_t looks = (now.mono_ms - first_look_ms_) / between_looks + 1;
    wake_ms_ = first_look_ms_ + looks * between_looks;
    return {};
  }
  if (woken(event, now)) return launch();
  return {};
}

core::Actions RetryDecider::decide(const core::Event& event, Time now) {
  if (std::holds_alternative<core::StartRequested>(event) && !worker_runs(state_)) {
    state_.wanted = true;
    failures_ = 0;
    state_.stage = core::Stage::selecting;
    return {core::SelectCheckpoint{}};
  }
  if (std::holds_alternative<core::RestartRequested>(event) && worker_runs(state_)) {
    return {core::SendSignal{core::Signal::kill}};
  }
  if (const auto* chosen = std::get_if<core::CheckpointSelected>(&event)) {
    state_.stage = core::Stage::launching;
    state_.resume_step = chosen->step;
    ++state_.attempt;
    return {core::Launch{state_.attempt, "", chosen->path, {}}};
  }
  if (std::holds_alternative<core::CheckpointReported>(event)) failures_ = 0;
  if (ends_attempt(event)) {
    state_.stage = is_done(event) ? core::Stage::exited : core::Stage::backoff;
    if (is_done(event)) return {};
    const std::int64_t wait =
        std::min<std::int64_t>(second_ms << std::min(failures_++, 9), 5 * minute_ms);
    wake_ms_ = now.mono_ms + wait;
    return {};
  }
  if (woken(event, now)) {
    wake_ms_ = 0;
    state_.stage = core::Stage::selecting;
    return {core::SelectCheckpoint{}};
  }
  return {};
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

std::vector<std::string> decider_names() { return {"wrapper", "retry", "trainward"}; }

std::unique_ptr<Decider> make_decider(std::string_view name, const Setup& setup) {
  if (name == "wrapper") return std::make_unique<WrapperDecider>();
  if (name == "retry") return std::make_unique<RetryDecider>();
  if (name == "trainward") return std::make_unique<CoreDecider>(policy_for(setup));
  return nullptr;
}

}  // namespace trainward::sim

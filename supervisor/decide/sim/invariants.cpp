#include "supervisor/decide/sim/invariants.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "supervisor/decide/core/turn/ledger.hpp"

namespace trainward::sim {

std::string_view to_string(Promise promise) {
  constexpr std::array<std::string_view, promises> names{
      "one worker",    "budget",        "newest checkpoint", "ledger",   "round trip",   "timer",
      "stays stopped", "no false kill", "quarantine",        "rollback", "counted once", "attempts",
      "alive"};
  return names.at(static_cast<std::size_t>(promise));
}

void Checker::broken(Promise promise, std::string what) {
  if (!on_ || violation_) return;
  violation_ = Violation{promise, std::move(what), site_.machine.clock.true_ms};
}

void Checker::after(const core::Event& event, Time at, const core::State& state,
                    std::span<const core::Action> actions) {
  ++events_;
  digest_.add(event.index());
  digest_.add(static_cast<std::uint64_t>(at.mono.ms));
  digest_.add((static_cast<std::uint64_t>(state.stage) << 32U) ^
              static_cast<std::uint64_t>(state.current.last_step.number));
  digest_.add(static_cast<std::uint64_t>(state.watch.deadline_mono_ms.value_or(MonoTime{}).ms) ^
              actions.size());
  if (listener_) listener_(event, at, state, actions);
  if (!on_ || violation_) return;
  take_event(event, at, state);
  for (const core::Action& action : actions) take_action(action, at, state);
  check_ledger(at, state);
  check_state(state);
}

void Checker::take_event(const core::Event& event, Time at, const core::State& state) {
  if (std::holds_alternative<core::StartRequested>(event) ||
      std::holds_alternative<core::RestartRequested>(event)) {
    wanted_ = true;
    barren_in_all_ = barren_in_a_row_ = 0;
    restarts_by_hand_ = running_;
    last_progress_ms_ = site_.machine.clock.true_ms;
  } else if (const auto* stop = std::get_if<core::StopRequested>(&event)) {
    if (!stop->keep_wanted) wanted_ = false;
    last_progress_ms_ = site_.machine.clock.true_ms;
  } else if (const auto* verified = std::get_if<core::CheckpointVerified>(&event)) {
    if (verified->error.empty() && verified->attempt == begun_ && running_ &&
        verified->step > newest_verified_) {
      verified_here_ = true;
      newest_verified_ = verified->step;
      last_progress_ms_ = site_.machine.clock.true_ms;
    }
  } else if (const auto* probe = std::get_if<core::ProbeFinished>(&event)) {
    probed_quarantine_.clear();
    probed_at_ = at.wall;
    for (const core::BoardFound& board : probe->boards) {
      probed_quarantine_[board.serial] = board.record.quarantined_until_wall_ms;
    }
  } else if (const auto* started = std::get_if<core::DaemonStarted>(&event);
             started != nullptr && span_open_ && started->machine_restarted) {
    // The monotonic clock restarted: only the wall clock knows how much time passed.
    expected_ms_ += std::max<std::int64_t>(at.wall - last_at_.wall, 0);
    last_at_ = at;
  }
  if (state.wanted && !wanted_) broken(Promise::stays_stopped, "wanted again without being asked");
}

void Checker::take_action(const core::Action& action, Time at, const core::State& state) {
  if (const auto* span = std::get_if<core::RecordSpan>(&action)) return take(*span);
  if (const auto* step = std::get_if<core::RecordStep>(&action)) return take(*step, state);
  if (const auto* ended = std::get_if<core::RecordAttemptEnded>(&action))
    return take(*ended, state);
  if (const auto* board = std::get_if<core::RecordBoard>(&action)) return take(*board, at);
  if (const auto* begun = std::get_if<core::RecordAttemptBegun>(&action)) return take(*begun);
  if (const auto* launch = std::get_if<core::Launch>(&action)) return check_launch(*launch, state);
  if (const auto* select = std::get_if<core::SelectCheckpoint>(&action)) {
    if (select->below && !goes_back_) {
      broken(Promise::newest,
             fmt::format("goes back before step {} and no verdict said so", select->below));
    }
  }
}

void Checker::take(const core::RecordSpan& span) {
  if (span.duration_ms <= 0)
    broken(Promise::ledger, fmt::format("an empty span of {}", to_string(span.phase)));
  booked_ms_ += span.duration_ms;
}

void Checker::take(const core::RecordStep& step, const core::State& /*state*/) {
  if (step.step <= last_counted_step_) {
    broken(Promise::counted_once,
           fmt::format("step {} after step {} in one attempt", step.step, last_counted_step_));
  }
  last_counted_step_ = step.step;
}

// Nothing in this world says which of several boards a fault was.
void Checker::take(const core::RecordBoard& board, Time at) {
  const auto known = probed_quarantine_.find(board.serial);
  if (known == probed_quarantine_.end() || !core::quarantined(board.record, at.wall) ||
      board.record.quarantined_until_wall_ms <= known->second) {
    return;
  }
  if (std::exchange(barred_by_this_end_, true)) {
    broken(Promise::quarantine, fmt::format("board {} goes there as another does", board.serial));
  }
}

void Checker::take(const core::RecordAttemptBegun& begun) {
  if (running_) broken(Promise::attempts, fmt::format("attempt {} has not ended", begun_));
  if (begun.attempt <= begun_) {
    broken(Promise::attempts, fmt::format("attempt {} after attempt {}", begun.attempt, begun_));
  }
  begun_ = begun.attempt;
  running_ = true;
  barred_by_this_end_ = false;
  verified_here_ = false;
  last_counted_step_ = {-1};
}

void Checker::take(const core::RecordAttemptEnded& ended, const core::State& state) {
  if (!running_ || ended.attempt != begun_) {
    broken(Promise::attempts, fmt::format("attempt {} ended and did not run", ended.attempt));
  }
  running_ = false;
  if (ended.evidence.empty()) broken(Promise::attempts, "a verdict without evidence");
  // Also when that was one time too many: a start by hand goes back all the same.
  goes_back_ = ended.remedy == core::Remedy::older_checkpoint ||
               (ended.remedy == core::Remedy::stop && state.next.below);
  const bool broke = ended.cause == core::Cause::nan || ended.cause == core::Cause::loss_spike;
  if (broke && goes_back_) trouble_from_ = state.history.trouble_step;
  const bool our_wish =
      ended.cause == core::Cause::stopped || ended.cause == core::Cause::larger_mesh;
  const bool counts = !our_wish || verified_here_;
  if (counts) barren_in_a_row_ = verified_here_ ? 0 : barren_in_a_row_ + 1;
  if (counts && !verified_here_) ++barren_in_all_;
  // A start by hand is a new budget of patience.
  if (std::exchange(restarts_by_hand_, false)) barren_in_all_ = barren_in_a_row_ = 0;
}

// Two events may carry times that overlap by the milliseconds a journal lags; nothing is lost.
void Checker::check_ledger(Time at, const core::State& state) {
  if (span_open_ && at.mono > last_at_.mono) expected_ms_ += at.mono - last_at_.mono;
  if (!span_open_ || at.mono > last_at_.mono) last_at_ = at;
  span_open_ = state.span.has_value();
  std::int64_t open = 0;
  if (span_open_) open = last_at_.mono - state.span->since.mono;
  const std::int64_t difference = booked_ms_ + open - expected_ms_;
  constexpr std::int64_t lag = 250;  // an exit is written before a verdict, and read after it
  if (difference > lag || difference < -lag) {
    broken(
        Promise::ledger,
        fmt::format("{} ms are booked{} where {} ms passed", booked_ms_ + open,
                    span_open_ ? fmt::format(" in all, with {}", to_string(state.span->phase)) : "",
                    expected_ms_));
  }
}

void Checker::check_state(const core::State& state) {
  const bool worker = core::has_worker(state.stage);
  if (worker != running_) {
    broken(Promise::attempts, fmt::format("{} while attempt {} {}", core::to_string(state.stage),
                                          begun_, running_ ? "runs" : "has ended"));
  }
  if (state.history.charged_attempts > policy_.budgets.attempts)
    broken(Promise::budget, "attempts in all");
  constexpr std::uint64_t sampled = 512;
  if (events_ % sampled != 0) return;
  const auto again = core::state_from_json(core::to_json(state));
  if (!again || !(*again == state)) broken(Promise::round_trip, "the state reads back differently");
}

}  // namespace trainward::sim

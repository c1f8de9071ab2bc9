#include "supervisor/decide/core/turn/turn.hpp"

#include <algorithm>
#include <type_traits>

#include "common/base/text.hpp"
#include "supervisor/decide/core/need.hpp"
#include "supervisor/decide/core/turn/deadlines.hpp"
#include "supervisor/decide/core/turn/ledger.hpp"

namespace trainward::core {

namespace {

// Of what somebody may ask for.
template <typename E>
concept Request = requires(const E& event) {
  event.by;
};

}  // namespace

void Turn::take(const Event& event) {
  // A record may be read after something newer was decided; what was decided stays. Monotonic time
  // is compared, because the wall clock may be set back at any moment.
  const auto* started = std::get_if<DaemonStarted>(&event);
  const bool clock_began_anew = started != nullptr && started->machine_restarted;
  const std::int64_t late = state_.seen.mono - now_.mono;
  if (late > 0 && !clock_began_anew) {
    now_.wall += late;
    now_.mono += late;
  }
  std::visit(
      [this](const auto& e) {
        if constexpr (Request<std::decay_t<decltype(e)>>) by_ = e.by;
        on(e);
      },
      event);
  tell_snag();
  state_.seen = now_;
}

// Once each time that something begins to need a person.
void Turn::tell_snag() {
  const SnagFacts& snag = facts(snag_at(state_, now_.wall));
  if (state_.history.told_snag == snag.name) return;
  state_.history.told_snag = snag.name;
  if (snag.snag == Snag::none) return;
  note("attention", fmt::format("your action is needed: {}; {}", snag.words, snag.todo));
}

bool Turn::listening() const {
  return has_worker(state_.stage) && state_.stage != Stage::stopping &&
         state_.stage != Stage::killing && state_.stage != Stage::unkillable;
}

void Turn::note(std::string kind, std::string text) {
  act(RecordEvent{std::move(kind), std::move(text), by_, state_.attempt});
}

void Turn::progress() {
  state_.watch.progress_mono_ms = now_.mono;
  const std::int64_t allowed = allowed_ms(state_, policy_);
  state_.watch.deadline_mono_ms.reset();
  if (allowed > 0) state_.watch.deadline_mono_ms = now_.mono + allowed;
}

// Silence proves nothing while something is loaded or compiled; then the CPU is asked.
void Turn::watch_activity() {
  const std::int64_t allowed = allowed_ms(state_, policy_);
  // Of one that is only looked at, nobody knows what it says while it saves or evaluates.
  const bool unheard =
      policy_.foreign && (state_.stage == Stage::saving || state_.stage == Stage::evaluating);
  const bool silent_work =
      state_.stage == Stage::loading || state_.stage == Stage::compiling || unheard ||
      (state_.stage == Stage::training && silence_is_no_proof(state_, policy_));
  if (!silent_work || allowed == 0) {
    state_.watch.activity = {};
    return;
  }
  constexpr std::int64_t as_long_again = 12;
  constexpr std::int64_t for_ever = 100 * std::int64_t{365} * 86'400'000;
  state_.watch.activity.next_mono_ms = now_.mono + activity_interval_ms(allowed);
  state_.watch.activity.proof_mono_ms = now_.mono;
  // What trains silently may be compiling for all that can be seen.
  const bool may_compile = state_.stage == Stage::training && !state_.history.hang_step;
  const std::int64_t excused =
      as_long_again * (may_compile ? std::max(allowed, policy_.deadlines.compile_ms) : allowed);
  // Work is all that a program which shows nothing, and never has, is asked for.
  const bool mute =
      state_.stage == Stage::training && shows_nothing(state_, policy_) && !stepped_before(state_);
  state_.watch.activity.limit_mono_ms = now_.mono + (mute ? for_ever : excused);
}

void Turn::book_training(bool replaying) {
  book(state_, replaying ? Phase::replaying : Phase::stepping,
       replaying ? state_.history.last_cause : Cause::none, now_, actions_);
}

void Turn::book_stage() {
  switch (state_.stage) {
    case Stage::repairing:
      return book(state_, Phase::resetting, state_.history.last_cause, now_, actions_);
    case Stage::launching:
    case Stage::starting:
    case Stage::loading:
      return book(state_, Phase::loading, state_.history.last_cause, now_, actions_);
    case Stage::compiling:
      return book(state_, Phase::compiling, state_.history.last_cause, now_, actions_);
    case Stage::training:
      // Where one goes on that finds its own place, nobody knows before its first step.
      return book_training((policy_.told_to_resume || state_.current.first_step) &&
                           state_.current.last_step < state_.history.highest_step);
    case Stage::saving:
      return book(state_, Phase::saving, Cause::none, now_, actions_);
    case Stage::evaluating:
      return book(state_, Phase::evaluating, Cause::none, now_, actions_);
    case Stage::probing:
      return book(state_, Phase::probing, state_.history.last_cause, now_, actions_);
    case Stage::backoff:
      return book(state_, Phase::waiting, state_.history.last_cause, now_, actions_);
    case Stage::stopped:
    case Stage::exited:
    case Stage::fatal:
      return close_ledger(state_, now_, actions_);
    case Stage::selecting:  // part of what was before
      if (!state_.span) book(state_, Phase::loading, state_.history.last_cause, now_, actions_);
      return;
    case Stage::stopping:
    case Stage::killing:
      return;
    case Stage::unkillable:
      return book(state_, Phase::down, Cause::unkillable, now_, actions_);
  }
}

void Turn::enter(Stage stage, std::string reason) {
  if (state_.stage == Stage::saving && stage != Stage::saving) leave_saving();
  if (state_.stage != stage) {
    state_.stage = stage;
    state_.watch.step_began_mono_ms.reset();
    if (stage == Stage::training) state_.watch.step_began_mono_ms = now_.mono;
    if (stage == Stage::saving) state_.watch.save_began_mono_ms = now_.mono;
    book_stage();
    watch_activity();
  }
  state_.reason = std::move(reason);
  progress();
}

// What a save costs decides how often to save. Smoothed, so that one slow disk does not decide.
void Turn::leave_saving() {
  const std::int64_t took = std::max<std::int64_t>(now_.mono - state_.watch.save_began_mono_ms, 1);
  state_.watch.save_cost_ms = smoothed(state_.watch.save_cost_ms, took);
}

void Turn::settle(Stage stage, std::string reason) {
  note("state", fmt::format("{}: {}", display(stage), reason));
  state_.current.pid = 0;
  enter(stage, std::move(reason));
}

void Turn::kill(Cause cause, std::string why) {
  note("kill", fmt::format("SIGKILL: {}: {}", to_string(cause), why));
  state_.current.kill = Kill{cause, std::move(why), now_.mono};
  state_.current.kills_sent = 1;
  const MonoTime last_progress = state_.watch.progress_mono_ms;
  enter(Stage::killing, "killing: " + state_.current.kill->why);
  state_.watch.progress_mono_ms = last_progress;  // the ledger books the silence as lost
  act(SendSignal{Signal::kill});
}

// The same stop, only harder.
void Turn::kill_stopping(const std::string& why) {
  note("kill", why + "; SIGKILL");
  state_.current.kills_sent = 1;
  enter(Stage::killing, "killing");
  act(SendSignal{Signal::kill});
}

void Turn::stop_for(Cause cause, std::string why) {
  note(cause == Cause::stopped ? "state" : "planned",
       fmt::format("{}; {} sent", why, signal_name(policy_.stop_signal)));
  state_.current.kill = Kill{cause, std::move(why)};
  state_.current.kills_sent = 0;
  enter(Stage::stopping, "stopping: waiting for the worker to save and exit");
  act(SendSignal{Signal::terminate});
}

}  // namespace trainward::core

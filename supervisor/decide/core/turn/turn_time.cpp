#include <algorithm>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/deadlines.hpp"
#include "supervisor/decide/core/turn/ledger.hpp"
#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {
namespace {

// SIGKILLs without effect, at the pace of allowed_ms(killing), before it is called unkillable.
constexpr int patience = 3;
// A timer of a loop that is awake is not as late as this.
constexpr std::int64_t asleep_ms = 30'000;

}  // namespace

void Turn::on(const TimerFired& /*e*/) {
  look_for_growth_if_due();
  Activity& activity = state_.watch.activity;
  std::optional<MonoTime>& deadline = state_.watch.deadline_mono_ms;
  if (activity.next_mono_ms && now_.mono >= *activity.next_mono_ms && listening()) {
    const std::int64_t interval = activity_interval_ms(allowed_ms(state_, policy_));
    // Nobody has looked for a while: the answers to two looks are waited for, one shows no growth.
    if (now_.mono >= *activity.next_mono_ms + interval) {
      deadline = std::max<std::optional<MonoTime>>(deadline, now_.mono + 3 * interval);
    }
    activity.next_mono_ms = now_.mono + interval;
    act(CheckActivity{});
  }
  if (!deadline || now_.mono < *deadline) return;
  // Nobody was awake at the deadline: the database refused, or the machine slept and the worker
  // with it. Then the time starts over, as it does for a daemon that takes over.
  const std::int64_t late = now_.mono - *deadline;
  if (late > asleep_ms && (listening() || state_.stage == Stage::stopping)) {
    deadline = now_.mono + allowed_ms(state_, policy_);
    return;
  }
  const std::int64_t silent = now_.mono - state_.watch.progress_mono_ms;
  switch (state_.stage) {
    case Stage::backoff:
      // A look at whether what it waits for is there is no attempt yet.
      return state_.history.waits_for.empty() ? begin_attempt("waited long enough") : next_repair();
    case Stage::stopping:
      if (state_.current.kill) {
        state_.current.kill->why += "; it did not exit in time and was killed";
      }
      return kill_stopping(fmt::format("no exit {} after {}", human_duration(silent),
                                       signal_name(policy_.stop_signal)));
    case Stage::killing:
      if (state_.current.kills_sent >= patience)
        return on(Unkillable{"it does not react to SIGKILL"});
      ++state_.current.kills_sent;
      note("kill", "the process is still there after SIGKILL; sent again");
      progress();
      return act(SendSignal{Signal::kill});
    case Stage::unkillable:
      progress();
      return act(SendSignal{Signal::kill});
    case Stage::launching:
      return kill(Cause::start_failed,
                  fmt::format("no worker {} after the launch", human_duration(silent)));
    case Stage::starting:
    case Stage::loading:
    case Stage::compiling:
    case Stage::training:
    case Stage::saving:
    case Stage::evaluating:
      return kill_hung(silent);
    case Stage::stopped:
    case Stage::repairing:
    case Stage::probing:
    case Stage::selecting:
    case Stage::exited:
    case Stage::fatal:
      deadline.reset();
      return;
  }
}

void Turn::kill_hung(std::int64_t silent_ms) {
  std::string why = fmt::format("no progress for {} while {}{} (allowed: {})",
                                human_duration(silent_ms), to_string(state_.stage), at_step(state_),
                                human_duration(allowed_ms(state_, policy_)));
  const bool asked_of_more =
      state_.stage == Stage::training && silence_is_no_proof(state_, policy_);
  if (asked_of_more) {
    why += stepped_before(state_) ? "; it used next to no processor time and wrote little"
                                  : "; it used next to no processor time and wrote nothing";
  }
  if (policy_.foreign) {
    state_.history.hang_step = state_.current.last_step;
    state_.history.hang_silent_ms = silent_ms;
  }
  kill(Cause::hang, std::move(why));
}

// A twentieth of one CPU, or a growing cache, is work; less is what a hung runtime's own threads
// use.
void Turn::on(const ActivitySeen& e) {
  Activity& activity = state_.watch.activity;
  if (!activity.next_mono_ms || !listening()) return;
  bool works = false;
  if (activity.seen_mono_ms) {
    const std::int64_t since_ms = now_.mono - *activity.seen_mono_ms;
    // What only says over and over that it waits writes too. Of a program that has shown steps
    // before, that is no life.
    constexpr std::int64_t talk_bytes_per_ms = 4;
    const std::int64_t talk = stepped_before(state_) ? talk_bytes_per_ms * since_ms : 0;
    works =
        e.cpu_ms - activity.cpu_ms > since_ms / 20 || e.cache_bytes - activity.cache_bytes > talk;
  }
  activity.cpu_ms = e.cpu_ms;
  activity.cache_bytes = e.cache_bytes;
  activity.seen_mono_ms = now_.mono;
  if (works && now_.mono < activity.limit_mono_ms) progress();
}

void Turn::on(const MemorySample& e) {
  if (state_.stage != Stage::training) return;
  add_sample(state_.current.leak, now_.mono, e.used_bytes);
  const auto left = exhausted_in_ms(state_.current.leak, e.available_bytes);
  if (!left) return;
  // Enough to finish a step and a save, twice over.
  const std::int64_t needed = 60'000 + 4 * (usual_step_ms(state_) + state_.watch.save_cost_ms);
  if (*left > needed || !safe_to_restart()) return;
  stop_for(Cause::memory_leak,
           fmt::format("the worker's memory has grown from {} to {} and would be used up in {}",
                       human_bytes(static_cast<std::uint64_t>(state_.current.leak.first_bytes)),
                       human_bytes(static_cast<std::uint64_t>(state_.current.leak.last_bytes)),
                       human_duration(*left)));
}

void Turn::on(const HostFact& e) {
  constexpr std::size_t most = 8;  // a storm of kernel lines must not fill the state
  if (!has_worker(state_.stage)) return;
  std::erase_if(state_.current.facts,
                [this](const MachineFact& fact) { return !still_counts(state_, fact, now_.mono); });
  if (state_.current.facts.size() >= most) {
    const auto lightest = std::min_element(state_.current.facts.begin(), state_.current.facts.end(),
                                           [](const MachineFact& a, const MachineFact& b) {
                                             return a.evidence.weight < b.evidence.weight;
                                           });
    if (lightest->evidence.weight >= e.weight) return;
    state_.current.facts.erase(lightest);
  }
  state_.current.facts.push_back({{e.source, e.weight, e.cause, e.text, ""}, now_.mono});
  note("host", fmt::format("{}: {}", e.source, e.text));
}

void Turn::on(const Unkillable& e) {
  if (!has_worker(state_.stage) || state_.stage == Stage::unkillable) return;
  if (!state_.current.kill) state_.current.kill = Kill{Cause::unkillable, e.what};
  const std::string why = fmt::format(
      "the kernel does not let the process die ({}); nothing can start before it is "
      "gone, and a restart of the machine may be needed",
      e.what);
  note("unkillable", why);
  enter(Stage::unkillable, why);
}

void Turn::on(const Adopted& /*e*/) {
  if (!has_worker(state_.stage)) return;
  progress();
  watch_activity();
  state_.watch.step_began_mono_ms.reset();
  note("adopt", fmt::format("a new daemon took over attempt {}", state_.attempt));
  // The signal of the daemon before may not have been sent.
  if (state_.stage == Stage::stopping) act(SendSignal{Signal::terminate});
  if (state_.stage == Stage::killing) act(SendSignal{Signal::kill});
}

void Turn::on(const DaemonStarted& e) {
  if (state_.seen == Time{}) return;
  const std::int64_t away = std::max<std::int64_t>(
      e.machine_restarted ? now_.wall - state_.seen.wall : now_.mono - state_.seen.mono, 0);
  if (!e.machine_restarted && has_worker(state_.stage)) {  // it worked on: nothing was lost
    // The daemon before was asked to go and did not live to see the worker's end.
    if (state_.current.halt && state_.wanted) state_.restart_when_stopped = true;
    return;
  }
  const Time left_at = state_.seen;
  if (state_.span) {
    close_ledger(state_, left_at, actions_);
    const Cause cause = e.machine_restarted ? Cause::machine_restart : Cause::supervisor_down;
    if (away > 0) {
      act(RecordSpan{state_.attempt, Phase::down, cause, left_at.wall, away});
    }
    book(state_, Phase::down, cause, now_, actions_);
  }
  if (e.machine_restarted) {
    // Every time kept is of a clock that is gone; what was left of a wait is still to be waited.
    if (std::optional<MonoTime>& deadline = state_.watch.deadline_mono_ms) {
      const std::int64_t rest = *deadline - left_at.mono - away;
      deadline = now_.mono + std::max<std::int64_t>(rest, 1);
    }
    state_.current.launched_mono_ms = now_.mono - (left_at.mono - state_.current.launched_mono_ms);
    state_.watch.progress_mono_ms = now_.mono;
    if (has_worker(state_.stage)) {
      const Verdict verdict =
          classify(state_, AttemptLost{"the machine was restarted while the attempt ran"});
      return end_attempt(verdict, std::nullopt, std::nullopt);
    }
  }
  if (state_.span) book_stage();
  if (e.answers_lost) ask_again();
}

}  // namespace trainward::core

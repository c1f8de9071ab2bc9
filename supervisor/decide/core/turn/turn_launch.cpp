#include <algorithm>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/deadlines.hpp"
#include "supervisor/decide/core/turn/ledger.hpp"
#include "supervisor/decide/core/turn/retry.hpp"
#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {
void Turn::begin_attempt(const std::string& why) {
  if (state_.attempt > 0) {
    note("state", "next attempt: " + why);
  } else if (!by_.empty()) {
    note("state", "first attempt: " + why);
  }
  next_repair();
}

// Repairs come before the attempt: a board that was reset must be looked at again.
void Turn::next_repair() {
  if (!state_.next.repairs.empty()) return ask_for_repair();
  ++state_.attempt;
  if (!policy_.needs_board) {
    drop_boards();
    state_.boards.smaller.reset();
    return select_checkpoint();
  }
  enter(Stage::probing, "looking for a healthy board");
  act(Probe{});
}

void Turn::ask_for_repair() {
  const Remedy repair = state_.next.repairs.front();
  enter(Stage::repairing, std::string(facts(repair).repair));
  act(Repair{repair, state_.boards.board, more_serials()});
}

// Requests of the previous daemon will not be answered.
void Turn::ask_again() {
  switch (state_.stage) {
    case Stage::repairing:
      return ask_for_repair();
    case Stage::probing:
      return act(Probe{});
    case Stage::selecting:
      // The board may have changed meanwhile.
      if (!policy_.needs_board) return select_checkpoint();
      enter(Stage::probing, "looking for a healthy board");
      return act(Probe{});
    case Stage::stopped:
      if (state_.wanted) begin_attempt("the daemon is back");
      return;
    default:
      return;
  }
}

void Turn::on(const Repaired& e) {
  if (state_.stage != Stage::repairing) return;
  if (e.repair == Remedy::purge_caches) {
    note("caches", e.error.empty() ? "compile caches purged; the next start recompiles"
                                   : "compile caches could not be purged: " + e.error);
  } else if (e.error.empty()) {
    note("reset", fmt::format("{} {} reset{}{}", board_names(),
                              state_.boards.more_boards.empty() ? "was" : "were",
                              e.found.empty() ? "" : "; ", e.found));
  } else {
    note("reset", fmt::format("{} could not be reset: {}", board_names(), e.error));
  }
  state_.next.repairs.erase(state_.next.repairs.begin());
  next_repair();
}

void Turn::select_checkpoint() {
  std::string doing = "looking for the newest verified checkpoint";
  if (!policy_.told_to_resume) {
    doing = "about to start; the program picks its own starting point";
  } else if (state_.next.anew) {
    doing = "about to begin at step 0";
  } else if (state_.next.below) {
    doing = fmt::format("looking for a checkpoint before step {}", state_.next.below);
  }
  enter(Stage::selecting, std::move(doing));
  act(SelectCheckpoint{state_.next.anew ? Step{1} : state_.next.below,
                       state_.history.from_scratch_wall_ms});
}

Plan Turn::plan_attempt() const {
  const auto ladder = plan_ladder(shrinking_of(state_, policy_));
  const auto rung =
      std::min<std::size_t>(static_cast<std::size_t>(state_.next.plan.rung), ladder.size() - 1);
  Plan plan = ladder.at(rung);
  if (policy_.cadence.adaptive) {
    plan.checkpoint_every = checkpoint_interval(
        state_.watch.save_cost_ms, state_.watch.save_write_ms, mean_life_ms(state_.history.faults),
        usual_step_ms(state_), policy_.cadence.max_steps);
  }
  plan.skip = state_.next.skip;
  return plan;
}

void Turn::on(const CheckpointSelected& e) {
  if (state_.stage != Stage::selecting) return;
  History& history = state_.history;
  Amends& next = state_.next;
  if (e.missing) {
    // Neither its data nor its program is to blame, and what it would save meanwhile lies where
    // nobody finds it.
    if (history.missing == 0) history.missing_since = now_.wall;
    return begin_later(Cause::disk, ++history.missing, {"waiting", e.error, e.error});
  }
  if (!e.error.empty()) {
    // A disk that cannot be read now may be later; starting from the beginning would lose the run.
    return begin_later(Cause::disk, ++history.unreadable,
                       {"checkpoint", e.error, "checkpoints cannot be read: " + e.error});
  }
  history.unreadable = 0;
  history.missing = 0;
  history.not_ready = 0;
  history.waits_for.clear();
  if (history.trouble_step && next.below && !next.anew && policy_.told_to_resume) {
    next.skip.push_back({e.step + 1, history.trouble_step});
    if (next.skip.size() > 32) next.skip.erase(next.skip.begin());
    note("rollback", fmt::format("going back to step {}; the data of steps {} to {} is left out",
                                 e.step, e.step + 1, history.trouble_step));
  }
  const bool disk_only = std::exchange(next.disk_only, false) || next.below || next.anew;
  next.below = {};
  const Attempt before = std::exchange(state_.current, {});
  Attempt& attempt = state_.current;
  // The end of the previous attempt's counter, until the new attempt shows its own.
  attempt.counter_end = before.counter_end;
  attempt.counts_run = before.counts_run;
  attempt.from_scratch = std::exchange(next.anew, false);
  if (attempt.from_scratch) {
    history.trouble_step = {};
    history.highest_in_memory = {};
    next.skip.clear();
  }
  if (policy_.told_to_resume || attempt.from_scratch) {
    history.kept_path = e.path;
    history.kept_in = e.folder;
  }
  attempt.resume_from = e.path;
  attempt.resume_step = e.step;
  attempt.last_step = e.step;
  attempt.highest_at_launch = history.highest_step;
  attempt.launched_mono_ms = now_.mono;
  // A checkpoint that no longer verifies takes the kept step back with it. For a program that finds
  // its own, nothing was chosen.
  if (policy_.told_to_resume) history.kept_step = e.step;
  attempt.kept_at_launch = history.kept_step;
  state_.watch.loss.high = 0;
  if (probe_up(next.plan, now_.wall)) {
    note("plan", "trying the next larger plan again");
  }
  Boards& boards = state_.boards;
  if (boards.smaller) {
    boards.growth.look_mono_ms = now_.mono + pause_ms(boards.growth, policy_.grow_after_ms);
  }
  enter(Stage::launching, "launching");
  act(RecordAttemptBegun{state_.attempt, policy_.told_to_resume});
  std::string from = ", from the beginning";
  if (!policy_.told_to_resume) {
    from = "; the program picks its own starting point";
  } else if (!e.path.empty() && e.step == Step{0}) {
    from = fmt::format(", resuming from {}, of which no step is known",
                       e.path.substr(e.path.rfind('/') + 1));
  } else if (!e.path.empty()) {
    from = fmt::format(", resuming from step {}", e.step);
  }
  std::string on = boards.board.empty() ? "" : " on " + board_names();
  if (boards.smaller) {
    on += fmt::format(", a mesh of {} instead of {}", boards.smaller->shape, boards.smaller->full);
  }
  note("launch", fmt::format("attempt {}{}{}", state_.attempt, on, from));
  act(Launch{state_.attempt, boards.board, state_.current.resume_from, plan_attempt(),
             more_serials(), disk_only});
}

void Turn::on(const NotReady& e) {
  if (state_.stage != Stage::selecting) return;
  begin_later(state_.history.last_cause, ++state_.history.not_ready, {"waiting", e.what, e.what});
}

void Turn::give_number_back() {
  if (is_on_the_way(state_.stage)) --state_.attempt;
}

// Nothing was launched: neither an attempt nor a budget is spent.
void Turn::begin_later(Cause cause, int looks, const Wait& wait) {
  state_.history.last_cause = cause;
  if (state_.history.waits_for != wait.what) {
    state_.history.waits_for = wait.what;
    note(std::string(wait.kind), wait.why);
  }
  give_number_back();
  enter(Stage::backoff, wait.why);
  state_.watch.deadline_mono_ms =
      now_.mono + backoff_ms(policy_.backoff, looks, static_cast<std::uint64_t>(now_.mono.ms));
}

void Turn::on(const CheckpointRejected& e) {
  if (e.aside == e.path) {
    act(RecordCheckpoint{state_.attempt, e.path, e.step, 0, e.reason});
    return note("checkpoint", fmt::format("step {} is passed over: {}", e.step, e.reason));
  }
  act(RecordCheckpoint{state_.attempt, e.path, e.step, 0,
                       fmt::format("{}; set aside as {}", e.reason, e.aside)});
  note("damaged",
       fmt::format("checkpoint of step {} is set aside as {}: {}", e.step, e.aside, e.reason));
}

void Turn::on(const LaunchFailed& e) {
  if (state_.stage != Stage::launching) return;
  end_attempt(classify(state_, e), std::nullopt, std::nullopt);
}

void Turn::on(const WorkerStarted& e) {
  if (!has_worker(state_.stage)) return;
  state_.current.pid = e.pid;
  act(RecordWorkerStarted{e.pid});
  if (state_.stage != Stage::launching) return;
  if (policy_.speaks) return enter(Stage::starting, "worker started, no message yet");
  enter(Stage::training, "running");
}

}  // namespace trainward::core

#include <algorithm>
#include <bit>
#include <utility>

#include "common/base/text.hpp"
#include "supervisor/decide/core/turn/deadlines.hpp"
#include "supervisor/decide/core/turn/ledger.hpp"
#include "supervisor/decide/core/turn/retry.hpp"
#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {
namespace {

std::string describe(const BoardFound& board, WallTime now) {
  if (quarantined(board.record, now)) {
    return fmt::format("{} in quarantine for {}: {}", board.serial,
                       human_duration(board.record.quarantined_until_wall_ms - now),
                       board.record.reason);
  }
  return fmt::format("{} {}: {}", board.serial, board.verdict, board.evidence);
}

}  // namespace

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

void Turn::report_board(const BoardFound& board) {
  const bool held = quarantined(board.record, now_.wall);
  const std::string verdict = held ? "quarantine" : board.verdict;
  std::string& known = state_.history.boards[board.serial];
  if (known == verdict) return;
  known = verdict;
  if (!held && board.usable) {
    note("board", fmt::format("board {} is usable: {}{}", board.serial, board.verdict,
                              board.record.probation ? ", on probation" : ""));
  } else {
    note("board", fmt::format("board {} refused: {}", board.serial,
                              describe(board, now_.wall).substr(board.serial.size() + 1)));
  }
}

void Turn::on(const ProbeFinished& e) {
  if (state_.stage != Stage::probing) return;
  for (const BoardFound& board : e.boards) report_board(board);
  if (!e.error.empty() || !take_boards(e)) return wait_for_board(e);
  state_.history.rungs.erase(Cause::no_board);
  state_.history.without_board_since.reset();
  select_checkpoint();
}

// The first of equals; nullptr if there are no candidates.
const BoardFound* Turn::cleanest_board(const ProbeFinished& probe) const {
  const BoardFound* chosen = nullptr;
  for (const BoardFound& board : probe.boards) {
    if (!board.usable || quarantined(board.record, now_.wall)) continue;
    if (chosen == nullptr || stains(board.record) < stains(chosen->record)) chosen = &board;
  }
  return chosen;
}

// False: there is no board to take, or not every board that the program is to have.
bool Turn::take_boards(const ProbeFinished& probe) {
  std::vector<const BoardFound*> taken;
  if (!probe.set) {
    if (const BoardFound* chosen = cleanest_board(probe)) taken.push_back(chosen);
  } else {
    for (const std::string& serial : probe.set->serials) {
      const auto found = std::find_if(
          probe.boards.begin(), probe.boards.end(),
          [&](const BoardFound& board) { return board.serial == serial && board.usable; });
      if (found == probe.boards.end()) return false;
      taken.push_back(&*found);
    }
  }
  if (taken.empty()) return false;
  drop_boards();
  state_.boards.board = taken.front()->serial;
  state_.boards.board_record = taken.front()->record;
  for (std::size_t i = 1; i < taken.size(); ++i) {
    state_.boards.more_boards.push_back({taken[i]->serial, taken[i]->record});
  }
  return true;
}

void Turn::drop_boards() {
  state_.boards.board.clear();
  state_.boards.more_boards.clear();
}

std::vector<std::string> Turn::more_serials() const {
  std::vector<std::string> serials;
  for (const HeldBoard& held : state_.boards.more_boards) serials.push_back(held.serial);
  return serials;
}

std::string Turn::board_names() const {
  std::string names =
      (state_.boards.more_boards.empty() ? "board " : "boards ") + state_.boards.board;
  for (const HeldBoard& held : state_.boards.more_boards) names += ", " + held.serial;
  return names;
}

// No board is not an attempt: nothing was launched, so no budget is charged but patience is.
void Turn::wait_for_board(const ProbeFinished& probe) {
  Wait wait{"board", "no board found", "no board found"};
  if (!probe.error.empty()) {
    wait = {"probe", probe.error, "the probe failed: " + probe.error};
  } else if (probe.set && !probe.set->refusal.empty()) {
    // Whom it waits for may change with each look.
    wait = {"placement", "no place to run", "no place to run: " + probe.set->refusal};
  } else if (!probe.boards.empty()) {
    wait = {"board", "no usable board", "no usable board: "};
    for (const BoardFound& board : probe.boards) {
      if (&board != &probe.boards.front()) wait.why += "; ";
      wait.why += describe(board, now_.wall);
    }
  }
  // What another program works on comes free without anybody's help.
  const bool in_use = std::ranges::any_of(probe.boards, &BoardFound::in_use);
  std::optional<WallTime>& since = state_.history.without_board_since;
  if (in_use) {
    since.reset();
  } else if (!since) {
    since = now_.wall;
  }
  state_.history.last_cause = Cause::no_board;
  const int looks = ++state_.history.rungs[Cause::no_board];
  // A reset brings back what only hangs. Tried after 1, 2, 4, 8, … looks in vain, one broken board
  // after the other: a dead board must neither be reset for ever nor keep the others from it.
  std::vector<const BoardFound*> broken;
  for (const BoardFound& board : probe.boards) {
    if (!board.usable && !board.in_use) broken.push_back(&board);
  }
  const auto look = static_cast<std::uint32_t>(looks);
  if (policy_.can_reset && std::has_single_bit(look) && !broken.empty()) {
    const auto turn = static_cast<std::size_t>(std::countr_zero(look));
    give_number_back();
    drop_boards();
    state_.boards.board = broken.at(turn % broken.size())->serial;
    state_.next.repairs.push_back(Remedy::reset_board);
    note("board", wait.why);
    return next_repair();
  }
  begin_later(Cause::no_board, looks, wait);
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
  const auto ladder = plan_ladder(policy_.shrinking);
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
  next.below = {};
  const Attempt before = std::exchange(state_.current, {});
  Attempt& attempt = state_.current;
  // The end of the previous attempt's counter, until the new attempt shows its own.
  attempt.counter_end = before.counter_end;
  attempt.counts_run = before.counts_run;
  attempt.from_scratch = std::exchange(next.anew, false);
  if (attempt.from_scratch) {
    history.trouble_step = {};
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
  note("launch", fmt::format("attempt {}{}{}", state_.attempt,
                             state_.boards.board.empty() ? "" : " on " + board_names(), from));
  act(Launch{state_.attempt, state_.boards.board, state_.current.resume_from, plan_attempt(),
             more_serials()});
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

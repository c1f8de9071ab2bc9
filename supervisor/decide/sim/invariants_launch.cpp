// The promises about what is started and killed, and about a run that must go on.
#include <fmt/format.h>

#include "supervisor/decide/sim/invariants.hpp"

namespace trainward::sim {

// At the decision.
void Checker::check_launch(const core::Launch& launch, const core::State& state) {
  if (!wanted_) broken(Promise::stays_stopped, "launched after an operator's stop");
  const auto& budgets = policy_.budgets;
  if (barren_in_a_row_ >= budgets.attempts_without_progress || barren_in_all_ >= budgets.attempts) {
    broken(Promise::budget,
           fmt::format("launched after {} attempts in a row without a new verified "
                       "step, {} in all",
                       barren_in_a_row_, barren_in_all_));
  }
  if (state.history.time_without_progress_ms >= budgets.time_without_progress_ms) {
    broken(Promise::budget, "launched after the time without a new verified step was spent");
  }
  std::vector<std::string> boards = launch.more_boards;
  boards.push_back(launch.board);
  for (const std::string& board : boards) {
    const auto held = probed_quarantine_.find(board);
    if (held == probed_quarantine_.end() || probed_at_ >= held->second) continue;
    broken(Promise::quarantine, fmt::format("board {} is in quarantine for another {} ms", board,
                                            held->second - probed_at_));
  }
  if (trouble_from_ && state.current.resume_step >= trouble_from_) {
    broken(Promise::rollback, fmt::format("resumes from step {}, and the loss broke at step {}",
                                          state.current.resume_step, trouble_from_));
  }
  if (state.current.resume_step < newest_verified_) newest_verified_ = state.current.resume_step;
  trouble_from_ = {};
  goes_back_ = false;
}

// At the deed.
void Checker::about_to_launch(const core::Launch& order, const core::State& state) {
  const Machine& machine = site_.machine;
  if (site_.worker_alive() || site_.spawning || machine.journal.shim_alive) {
    broken(Promise::one_worker, fmt::format("attempt {} is launched while attempt {} runs",
                                            order.attempt, machine.journal.attempt));
  }
  if (machine.disk.was_set_aside(order.resume_from)) {
    broken(Promise::rollback, order.resume_from + " was set aside");
  }
  const Checkpoint* newest = machine.disk.newest_verified();
  if (newest != nullptr && !newest->damaged && state.current.resume_step.number < newest->step) {
    broken(Promise::newest, fmt::format("resumes from step {}, and step {} is verified",
                                        state.current.resume_step, newest->step));
  }
}

void Checker::about_to_signal(core::Signal signal, const core::State& state) {
  if (signal != core::Signal::kill || !site_.worker_alive() || !site_.worker->healthy()) return;
  const Worker& worker = *site_.worker;
  // A healthy worker that was asked to stop has the time it was promised, and no more.
  const bool asked = worker.doing() == Moment::stop;
  const std::int64_t asked_for = site_.machine.clock.true_ms - worker.term_at_ms();
  if (asked && asked_for >= policy_.deadlines.stop_ms) return;
  broken(Promise::no_false_kill,
         fmt::format("attempt {} was {} at step {}: {}", worker.order().attempt,
                     to_string(worker.doing()), worker.step(),
                     state.current.kill ? state.current.kill->why : "no reason"));
}

void Checker::at_rest(const core::State& state, bool answer_coming) {
  using core::Stage;
  switch (state.stage) {
    case Stage::stopped:
    case Stage::exited:
    case Stage::fatal:
      return;
    case Stage::probing:
    case Stage::selecting:
    case Stage::repairing:
      if (!answer_coming) {
        broken(Promise::timer,
               fmt::format("{}, and no answer is on its way", core::to_string(state.stage)));
      }
      return;
    default:
      if (!state.watch.deadline_mono_ms) {
        broken(Promise::timer,
               fmt::format("nothing would ever end {}", core::to_string(state.stage)));
      }
  }
}

// A full mesh is looked for once a day at least.
void Checker::check_grown(const core::State& state, std::int64_t bound_ms) {
  const Machine& machine = site_.machine;
  const std::int64_t quiet_since = machine.clock.true_ms - machine.setup.quiet_ms;
  if (!state.boards.smaller || quiet_since <= bound_ms + 2 * day_ms) return;
  for (const Board& board : machine.boards) {
    if (!board.link_up) return;
    if (machine.now().wall - bound_ms - day_ms < board.record.quarantined_until_wall_ms) return;
  }
  broken(Promise::alive, fmt::format("on a mesh of {} instead of {}, and every board works",
                                     state.boards.smaller->shape, state.boards.smaller->full));
}

void Checker::at_end(const core::State& state) {
  const Machine& machine = site_.machine;
  const bool ended = state.stage == core::Stage::exited || state.stage == core::Stage::stopped;
  // Somebody looks after one period at the latest, and an attempt needs its time.
  const std::int64_t bound = machine.setup.look_every_ms + 12 * hour_ms;
  check_grown(state, bound);
  const std::int64_t since =
      machine.clock.true_ms - std::max(machine.setup.quiet_ms, last_progress_ms_);
  if (ended || since <= bound) return;
  bool held = !machine.boards.empty() && policy_.needs_board;
  for (const Board& board : machine.boards) {
    held = held && (!board.link_up || core::quarantined(board.record, machine.now().wall - bound));
  }
  if (held) return;
  broken(Promise::alive,
         fmt::format("no new verified step for {} h on a machine that works: {}, {}",
                     since / hour_ms, core::to_string(state.stage), state.reason));
}

}  // namespace trainward::sim

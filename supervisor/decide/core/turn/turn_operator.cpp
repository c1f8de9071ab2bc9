#include "supervisor/decide/core/turn/turn.hpp"

namespace trainward::core {
namespace {

// " by uid 1000", or nothing.
std::string by_whom(const std::string& by) { return by.empty() ? "" : " by " + by; }

}  // namespace

void Turn::on(const StartRequested& e) {
  state_.wanted = true;
  state_.restart_when_stopped = has_worker(state_.stage) && !listening() && state_.current.kill &&
                                state_.current.kill->cause == Cause::stopped;
  // By hand, and not a daemon that comes back: the patience starts over.
  if (state_.restart_when_stopped && e.anew) state_.history.attempts_without_progress = 0;
  const bool under_way = has_worker(state_.stage) || state_.stage == Stage::probing ||
                         state_.stage == Stage::selecting || state_.stage == Stage::repairing;
  if (state_.restart_when_stopped && !e.by.empty()) {
    note("state", "start requested by " + e.by + ", for when the old worker has ended");
  }
  if (e.from_scratch) {
    state_.next.anew = true;
    state_.history.from_scratch_wall_ms = now_.wall;
    note("state", "to begin at step 0, as asked" + by_whom(e.by));
    if (state_.stage == Stage::selecting) return select_checkpoint();
  }
  if (under_way) return;
  if (e.anew) {
    state_.history.attempts_without_progress = 0;
    state_.history.charged_attempts = 0;
    state_.history.time_without_progress_ms = 0;
    state_.history.rungs.clear();
    state_.history.rollbacks = 0;
    state_.history.disk_refused = false;
    state_.history.missing_file.clear();
    state_.history.without_board_since.reset();
    if (!e.by.empty()) forget_mesh();
  }
  begin_attempt(e.anew ? "start requested" + by_whom(e.by) : "the daemon is back");
}

void Turn::on(const StopRequested& e) {
  if (!e.keep_wanted) state_.wanted = false;
  state_.restart_when_stopped = false;
  const bool ending = has_worker(state_.stage) && !listening();
  if (ending) {
    // A planned restart, or a kill, becomes the operator's stop: nothing is started afterwards.
    if (state_.current.kill && state_.stage == Stage::stopping) {
      state_.current.kill = Kill{Cause::stopped, "asked to stop by " + e.who};
    }
    state_.current.halt = true;
    if (!by_.empty()) note("state", "asked to stop by " + e.who + "; it is ending already");
    if (e.at_once && state_.stage == Stage::stopping) kill_stopping("asked to end at once");
    return;
  }
  if (!has_worker(state_.stage)) {
    const bool ended = state_.stage == Stage::exited || state_.stage == Stage::fatal;
    give_number_back();
    if (!ended) settle(Stage::stopped, "stopped by " + e.who);
    return;
  }
  state_.current.halt = true;
  stop_for(Cause::stopped, "asked to stop by " + e.who);
  if (e.at_once) kill_stopping("asked to end at once");
}

void Turn::on(const RestartRequested& e) {
  on(StopRequested{e.by.empty() ? "operator" : e.by});
  state_.wanted = true;
  if (has_worker(state_.stage)) {
    state_.restart_when_stopped = true;
    state_.history.attempts_without_progress = 0;
    forget_mesh();
  } else {
    on(StartRequested{.by = e.by});
  }
}

}  // namespace trainward::core

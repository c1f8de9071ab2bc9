#include "supervisor/core/step.hpp"

#include <algorithm>

#include "common/text.hpp"
#include "supervisor/core/classify.hpp"
#include "supervisor/core/deadlines.hpp"
#include "supervisor/core/ledger.hpp"
#include "supervisor/core/retry.hpp"

namespace trainward::core {
namespace {

class Step {
 public:
  Step(State state, const Policy& policy, Time now)
      : state_(std::move(state)), policy_(policy), now_(now) {}

  Outcome take(const Event& event) {
    std::visit([this](const auto& e) { on(e); }, event);
    return {std::move(state_), std::move(actions_)};
  }

 private:
  // ---- what the operator asks ----
  void on(const StartRequested&) {
    state_.wanted = true;
    state_.restart_when_stopped = state_.stage == Stage::stopping || state_.stage == Stage::killing;
    if (has_worker(state_.stage) || state_.stage == Stage::probing ||
        state_.stage == Stage::selecting) {
      return;
    }
    state_.attempts_without_progress = 0;  // a start by hand is a new budget of patience
    begin_attempt("start requested");
  }

  void on(const StopRequested& e) {
    if (!e.keep_wanted) state_.wanted = false;
    state_.restart_when_stopped = false;
    if (state_.stage == Stage::stopping || state_.stage == Stage::killing) return;
    if (!has_worker(state_.stage)) {
      const bool ended = state_.stage == Stage::exited || state_.stage == Stage::fatal;
      if (!ended) settle(Stage::stopped, "stopped by " + e.who);
      return;
    }
    state_.kill = Kill{"stopped", "asked to stop by " + e.who};
    enter(Stage::stopping, "stopping: waiting for the worker to save and exit");
    note("state", "stop requested by " + e.who + "; SIGTERM sent");
    act(SendSignal{Signal::terminate});
  }

  void on(const RestartRequested&) {
    on(StopRequested{"operator", false});
    state_.wanted = true;
    if (has_worker(state_.stage)) {
      state_.restart_when_stopped = true;
    } else {
      on(StartRequested{});
    }
  }

  // ---- on the way to a worker ----
  void on(const ProbeFinished& e) {
    if (state_.stage != Stage::probing) return;
    if (!e.error.empty()) {
      note("probe", "the probe failed: " + e.error);
      wait_for_board("the probe failed: " + e.error);
      return;
    }
    const BoardFound* chosen = nullptr;
    for (const BoardFound& board : e.boards) {
      report_board(board);
      if (board.usable && chosen == nullptr) chosen = &board;
    }
    if (chosen == nullptr) {
      wait_for_board(e.boards.empty() ? "no board found"
                                      : "no usable board: " + refusals(e.boards));
      return;
    }
    state_.board = chosen->serial;
    select_checkpoint();
  }

  void on(const CheckpointSelected& e) {
    if (state_.stage != Stage::selecting) return;
    if (!e.error.empty()) {
      note("checkpoint", e.error);
      settle(Stage::fatal, "checkpoints cannot be read: " + e.error);
      return;
    }
    state_.resume_from = e.path;
    state_.resume_step = e.step;
    // A checkpoint that does not verify any more takes the kept step back with it.
    state_.kept_step = e.step;
    state_.kept_at_launch = e.step;
    state_.last_step = e.step;
    state_.first_step = 0;
    state_.kill.reset();
    state_.pid = 0;
    enter(Stage::launching, "launching");
    act(RecordAttemptBegun{state_.attempt});
    note("launch", fmt::format("attempt {}{}{}", state_.attempt,
                               state_.board.empty() ? "" : " on board " + state_.board,
                               e.path.empty() ? ", from the beginning"
                                              : fmt::format(", resuming from step {}", e.step)));
    act(Launch{state_.attempt, state_.board, state_.resume_from});
  }

  void on(const CheckpointRejected& e) {
    act(RecordCheckpoint{state_.attempt, e.path, e.step, 0,
                         fmt::format("{}; set aside as {}", e.reason, e.aside)});
    note("damaged",
         fmt::format("checkpoint of step {} is set aside as {}: {}", e.step, e.aside, e.reason));
  }

  void on(const LaunchFailed& e) {
    if (state_.stage != Stage::launching) return;
    end_attempt(classify(state_, e), std::nullopt, std::nullopt);
  }

  void on(const WorkerStarted& e) {
    if (!has_worker(state_.stage)) return;
    state_.pid = e.pid;
    act(RecordWorkerStarted{e.pid});
    if (state_.stage == Stage::launching) enter(Stage::starting, "worker started, no message yet");
  }

  // ---- what the worker says ----
  void on(const PhaseEntered& e) {
    if (!listening()) return;
    if (e.phase == "load") enter(Stage::loading, "loading");
    if (e.phase == "compile") enter(Stage::compiling, "compiling");
    if (e.phase == "train") enter(Stage::training, "training");
    if (e.phase == "save" || e.phase == "upload") enter(Stage::saving, "saving");
  }

  void on(const Resumed& e) {
    if (!listening()) return;
    progress();
    if (e.step < state_.resume_step) break_resume_contract(e.step);
  }

  void on(const StepDone& e) {
    if (!has_worker(state_.stage)) return;
    if (state_.first_step == 0) {
      if (e.step <= state_.resume_step && listening()) return break_resume_contract(e.step);
      state_.first_step = e.step;
    } else if (state_.stage == Stage::training && e.step > state_.last_step) {
      learn_step_time(state_, now_.mono_ms - state_.progress_mono_ms);
    }
    const bool replayed = e.step <= state_.highest_step;
    if (listening()) {
      // Time up to this step belongs to it: a replayed step was done before and lost.
      if (state_.stage != Stage::training) enter(Stage::training, "training");
      book_training(replayed);
    }
    state_.last_step = e.step;
    state_.last_loss = e.loss;
    state_.highest_step = std::max(state_.highest_step, e.step);
    progress();
    act(RecordStep{e.step, e.loss, e.grad_norm, e.tokens, e.tokens_per_second, replayed});
  }

  void on(const CheckpointReported& e) {
    if (!has_worker(state_.stage)) return;
    progress();
    act(VerifyCheckpoint{state_.attempt, e.path, e.step});
  }

  void on(const Alive&) {
    // Life is not progress: only phases whose progress cannot be seen are prolonged by it.
    if (state_.stage == Stage::loading || state_.stage == Stage::compiling ||
        state_.stage == Stage::saving) {
      progress();
    }
  }

  void on(const CheckpointVerified& e) {
    act(RecordCheckpoint{e.attempt, e.path, e.step, e.bytes, e.error});
    if (!e.error.empty()) {
      note("checkpoint", fmt::format("step {} does not verify: {}", e.step, e.error));
      return;
    }
    state_.kept_step = std::max(state_.kept_step, e.step);
    note("checkpoint", fmt::format("step {} verified, {}", e.step, human_bytes(e.bytes)));
    act(PruneCheckpoints{});
  }

  // ---- the end of an attempt ----
  // The shell delivers an exit after the verdicts on all checkpoints of the attempt, so that what
  // it kept is known here.
  void on(const WorkerExited& e) {
    if (!has_worker(state_.stage)) return;
    end_attempt(classify(state_, e), e.code, e.signal);
  }
  void on(const AttemptLost& e) {
    if (!has_worker(state_.stage)) return;
    end_attempt(classify(state_, e), std::nullopt, std::nullopt);
  }

  void on(const Adopted&) {
    if (!has_worker(state_.stage)) return;
    note("adopt", fmt::format("a new daemon took over attempt {}", state_.attempt));
    progress();
    // The signal of the daemon before may not have been sent.
    if (state_.stage == Stage::stopping) act(SendSignal{Signal::terminate});
    if (state_.stage == Stage::killing) act(SendSignal{Signal::kill});
  }

  void on(const TimerFired&) {
    if (state_.deadline_mono_ms == 0 || now_.mono_ms < state_.deadline_mono_ms) return;
    const std::int64_t silent = now_.mono_ms - state_.progress_mono_ms;
    switch (state_.stage) {
      case Stage::backoff:
        return begin_attempt("waited long enough");
      case Stage::stopping:
        // Asked to stop and did not: still the operator's stop, only harder.
        note("kill", fmt::format("no exit {} after SIGTERM; SIGKILL", human_duration(silent)));
        state_.kill =
            Kill{"stopped", state_.kill->why + "; it did not exit in time and was killed"};
        enter(Stage::killing, "killing");
        return act(SendSignal{Signal::kill});
      case Stage::killing:
        note("kill", "the process is still there after SIGKILL; sent again");
        progress();
        return act(SendSignal{Signal::kill});
      case Stage::launching:
        return kill("start_failed",
                    fmt::format("no worker {} after the launch", human_duration(silent)));
      case Stage::starting:
      case Stage::loading:
      case Stage::compiling:
      case Stage::training:
      case Stage::saving:
        return kill("hang",
                    fmt::format("no progress for {} while {} at step {} (allowed: {})",
                                human_duration(silent), to_string(state_.stage), state_.last_step,
                                human_duration(allowed_ms(state_, policy_))));
      case Stage::stopped:
      case Stage::probing:
      case Stage::selecting:
      case Stage::exited:
      case Stage::fatal:
        state_.deadline_mono_ms = 0;
        return;
    }
  }

  // ---- helpers ----
  [[nodiscard]] bool listening() const {
    return has_worker(state_.stage) && state_.stage != Stage::stopping &&
           state_.stage != Stage::killing;
  }

  template <typename A>
  void act(A action) {
    actions_.emplace_back(std::move(action));
  }
  void note(std::string kind, std::string text) {
    act(RecordEvent{std::move(kind), std::move(text)});
  }

  void progress() {
    state_.progress_mono_ms = now_.mono_ms;
    const std::int64_t allowed = allowed_ms(state_, policy_);
    state_.deadline_mono_ms = allowed == 0 ? 0 : now_.mono_ms + allowed;
  }

  void enter(Stage stage, std::string reason) {
    if (state_.stage != stage) {
      state_.stage = stage;
      switch (stage) {
        case Stage::launching:
        case Stage::starting:
        case Stage::loading:
          book(state_, "loading", state_.last_cause, now_, actions_);
          break;
        case Stage::compiling:
          book(state_, "compiling", state_.last_cause, now_, actions_);
          break;
        case Stage::training:
          book_training(state_.last_step < state_.highest_step);
          break;
        case Stage::saving:
          book(state_, "saving", "", now_, actions_);
          break;
        case Stage::probing:
          book(state_, "probing", state_.last_cause, now_, actions_);
          break;
        case Stage::backoff:
          book(state_, "waiting", state_.last_cause, now_, actions_);
          break;
        case Stage::stopped:
        case Stage::exited:
        case Stage::fatal:
          close_ledger(state_, now_, actions_);
          break;
        case Stage::selecting:
        case Stage::stopping:
        case Stage::killing:
          break;
      }
    }
    state_.reason = std::move(reason);
    progress();
  }

  void book_training(bool replaying) {
    book(state_, replaying ? "replaying" : "stepping", replaying ? state_.last_cause : "", now_,
         actions_);
  }

  void settle(Stage stage, std::string reason) {
    note("state", fmt::format("{}: {}", display(stage), reason));
    state_.pid = 0;
    enter(stage, std::move(reason));
  }

  void begin_attempt(const std::string& why) {
    if (state_.attempt > 0) note("state", "next attempt: " + why);
    ++state_.attempt;
    state_.board.clear();
    if (policy_.needs_board) {
      enter(Stage::probing, "looking for a healthy board");
      act(Probe{});
    } else {
      select_checkpoint();
    }
  }

  void select_checkpoint() {
    enter(Stage::selecting, "looking for the newest verified checkpoint");
    if (!state_.span) book(state_, "loading", state_.last_cause, now_, actions_);
    act(SelectCheckpoint{});
  }

  void report_board(const BoardFound& board) {
    std::string& known = state_.boards[board.serial];
    if (known == board.verdict) return;
    known = board.verdict;
    note("board", board.usable ? fmt::format("board {} is usable: {}", board.serial, board.verdict)
                               : fmt::format("board {} refused: {}: {}", board.serial,
                                             board.verdict, board.evidence));
  }

  static std::string refusals(const std::vector<BoardFound>& boards) {
    std::string text;
    for (const BoardFound& board : boards) {
      if (!text.empty()) text += "; ";
      text += board.serial + " " + board.verdict + ": " + board.evidence;
    }
    return text;
  }

  // No board is not an attempt: nothing was launched, so no budget is charged but patience is.
  void wait_for_board(const std::string& why) {
    --state_.attempt;
    ++state_.attempts_without_progress;
    state_.last_cause = "no_board";
    const std::int64_t wait = backoff_ms(policy_.backoff, state_.attempts_without_progress,
                                         static_cast<std::uint64_t>(now_.mono_ms));
    enter(Stage::backoff, fmt::format("{}; looking again in {}", why, human_duration(wait)));
    state_.deadline_mono_ms = now_.mono_ms + wait;
  }

  void kill(std::string cause, std::string why) {
    note("kill", fmt::format("SIGKILL: {}: {}", cause, why));
    state_.kill = Kill{std::move(cause), std::move(why)};
    const std::int64_t last_progress = state_.progress_mono_ms;
    enter(Stage::killing, "killing: " + state_.kill->why);
    state_.progress_mono_ms = last_progress;  // the ledger books the silence as lost
    act(SendSignal{Signal::kill});
  }

  void break_resume_contract(std::int64_t reported) {
    kill("resume_contract", fmt::format("told to resume from step {}, but it reported step {}",
                                        state_.resume_step, reported));
  }

  void end_attempt(const Verdict& verdict, std::optional<int> code, std::optional<int> signal) {
    if (verdict.cause != "done" && verdict.cause != "stopped") {
      rebook_since_progress(state_, verdict.cause, now_, actions_);
    }
    note("exit", verdict.sentence);
    act(RecordAttemptEnded{state_.attempt, code, signal, verdict.cause, verdict.sentence,
                           verdict.evidence});
    state_.pid = 0;
    state_.last_cause = verdict.cause;
    state_.kill.reset();
    const bool advanced = state_.kept_step > state_.kept_at_launch;
    state_.attempts_without_progress = advanced ? 0 : state_.attempts_without_progress + 1;

    if (verdict.cause == "stopped" || !state_.wanted) {
      if (state_.restart_when_stopped && state_.wanted) {
        state_.restart_when_stopped = false;
        state_.attempts_without_progress = 0;
        return begin_attempt("restart requested");
      }
      return settle(Stage::stopped, verdict.sentence);
    }
    const Next next = decide_next(state_, policy_, verdict);
    switch (next.kind) {
      case Next::Kind::finished:
        state_.wanted = false;
        return settle(Stage::exited, next.why);
      case Next::Kind::give_up:
        return settle(Stage::fatal, next.why);
      case Next::Kind::at_once:
        return begin_attempt(verdict.cause);
      case Next::Kind::after_wait:
        enter(Stage::backoff,
              fmt::format("{}; next attempt in {}", next.why, human_duration(next.wait_ms)));
        state_.deadline_mono_ms = now_.mono_ms + next.wait_ms;
        return;
    }
  }

  State state_;
  const Policy& policy_;
  Time now_;
  Actions actions_;
};

}  // namespace

Outcome step(State state, const Event& event, const Policy& policy, Time now) {
  return Step(std::move(state), policy, now).take(event);
}

}  // namespace trainward::core

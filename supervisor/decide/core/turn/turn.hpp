// One event of one program: the state before it, the state after it, and what is to be done.
//
// Private to the core; step() is its only user. The handlers are grouped by who speaks: the
// operator (turn_operator.cpp), the way to a worker (turn_launch.cpp) and its boards
// (turn_boards.cpp), the worker (turn_worker.cpp), its end (turn_end.cpp), the clock and the
// machine (turn_time.cpp).
#pragma once

#include <string>
#include <utility>

#include "supervisor/decide/core/turn/classify.hpp"
#include "supervisor/decide/core/turn/step.hpp"

namespace trainward::core {

// Needs a repair; one that another program works on does not.
inline bool is_broken(const BoardFound& board) { return !board.usable && !board.in_use; }

class Turn {
 public:
  Turn(State& state, const Policy& policy, Time now, Actions& actions)
      : state_(state), policy_(policy), now_(now), told_at_(now), actions_(actions) {}

  void take(const Event& event);

 private:
  // ---- the operator ----
  void on(const StartRequested& e);
  void on(const StopRequested& e);
  void on(const RestartRequested& e);

  // ---- the way to a worker ----
  void on(const ProbeFinished& e);
  void on(const Settling& e);
  void on(const Repaired& e);
  void on(const CheckpointSelected& e);
  void on(const NotReady& e);
  void on(const CheckpointRejected& e);
  void on(const LaunchFailed& e);
  void on(const WorkerStarted& e);

  // ---- the worker ----
  void on(const PhaseEntered& e);
  void on(const Resumed& e);
  void on(const StepDone& e);
  void on(const CheckpointReported& e);
  void on(const CheckpointVerified& e);
  void on(const Alive& e);
  void on(const DevicesTold& e);
  void on(const Evaluated& e);
  void on(const TargetTold& e);
  void on(const Noticed& e);

  // ---- its end ----
  void on(const Outlived& e);
  void on(const WorkerExited& e);
  void on(const AttemptLost& e);

  // ---- the clock, the machine, the daemon ----
  void on(const TimerFired& e);
  void on(const ActivitySeen& e);
  void on(const MemorySample& e);
  void on(const HostFact& e);
  void on(const Unkillable& e);
  void on(const Adopted& e);
  void on(const DaemonStarted& e);

  // ---- towards the next attempt ----
  void begin_attempt(const std::string& why);
  void next_repair();
  void ask_for_repair();
  void ask_again();
  void select_checkpoint();
  void give_number_back();
  // `what` is the same for as long as the same is waited for; `why` may say more.
  struct Wait {
    std::string_view kind;  // of the event that tells of it
    std::string what;
    std::string why;
  };
  void begin_later(Cause cause, int looks, const Wait& wait);
  bool acquit_boards(const ProbeFinished& probe);
  void forget_mesh();
  void report_board(const BoardFound& board);
  void wait_for_board(const ProbeFinished& probe);
  static std::vector<std::vector<std::string>> to_be_reset(const ProbeFinished& probe);
  [[nodiscard]] const BoardFound* cleanest_board(const ProbeFinished& probe) const;
  bool take_boards(const ProbeFinished& probe);
  bool take_set(const ProbeFinished& probe, const std::vector<std::string>& serials);
  void take_whole_mesh(const ProbeFinished& probe);
  bool take_smaller(const ProbeFinished& probe);
  void look_for_growth_if_due();
  void grow_if_possible(const ProbeFinished& probe);
  void drop_boards();
  [[nodiscard]] std::vector<std::string> more_serials() const;
  [[nodiscard]] std::string board_names() const;  // "board A", "boards A, B"
  // The record of each board the program runs on.
  template <typename F>
  void each_board(F&& visit) {
    if (state_.boards.board.empty()) return;
    visit(state_.boards.board, state_.boards.board_record);
    for (HeldBoard& held : state_.boards.more_boards) visit(held.serial, held.record);
  }
  [[nodiscard]] Plan plan_attempt() const;
  void end_attempt(const Verdict& verdict, std::optional<int> code, std::optional<int> signal);
  // Twice for the same missing file, before anything was done: it will be missing the third time.
  [[nodiscard]] Verdict judged(const Verdict& verdict);
  [[nodiscard]] std::string in_vain(const Verdict& verdict) const;
  void charge(bool advanced);
  // Whether an end that is told so may be this board's fault: it names it, or none of several.
  [[nodiscard]] bool is_suspect(const std::string& serial, const std::string& why) const;
  // Each of several boards is a suspect: no reason to lose them all.
  [[nodiscard]] bool is_nobodys(const std::string& why) const;
  void charge_board(Cause cause, const std::string& why, bool advanced);
  // What is done about it, already under way; stop: there is nothing left to try.
  Remedy apply_remedy(Cause cause, const std::string& why, bool advanced);
  [[nodiscard]] bool made_progress() const;
  [[nodiscard]] bool fails_behind_its_end(Cause cause) const;
  [[nodiscard]] Step began_after() const;
  [[nodiscard]] std::int64_t lived_ms() const;  // the attempt, since its launch

  // ---- ends we bring about ----
  void kill(Cause cause, std::string why);
  void stop_for(Cause cause, std::string why);
  void notice_bursts(std::int64_t gap_ms);
  void notice_patience();
  void notice_resume(Step first);
  void kill_hung(std::int64_t silent_ms);
  void plan_restart_if_due();
  [[nodiscard]] bool safe_to_restart() const;
  [[nodiscard]] bool in_last_step() const;
  [[nodiscard]] bool resumes_near(Step first) const;
  void kill_stopping(const std::string& why);

  // ---- bookkeeping ----
  [[nodiscard]] bool listening() const;  // what the worker says still decides something
  void note(std::string kind, std::string text);
  void tell_snag();
  void progress();
  void watch_activity();
  void enter(Stage stage, std::string reason);
  void book_stage();
  void book_training(bool replaying);
  void settle(Stage stage, std::string reason);
  void leave_saving();
  template <typename A>
  void act(A action) {
    actions_.emplace_back(std::move(action));
  }

  State& state_;
  const Policy& policy_;
  Time now_;      // never before the newest event, while the machine runs
  Time told_at_;  // what the event itself says
  Actions& actions_;
  std::string by_;  // whose request this turn is; empty: nobody's
};

}  // namespace trainward::core

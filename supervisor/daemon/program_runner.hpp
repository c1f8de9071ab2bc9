// The shell around the core for one program: feeds it events, records what it decides, does what it
// asks, and arms its timer. Turns keeps the order: events → core → commit → side effects.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "hwprobe/report.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/core/step.hpp"
#include "supervisor/daemon/attempt_follower.hpp"
#include "supervisor/daemon/board_reset.hpp"
#include "supervisor/daemon/board_watch.hpp"
#include "supervisor/daemon/boards_found.hpp"
#include "supervisor/daemon/child_process.hpp"
#include "supervisor/daemon/foreign_watch.hpp"
#include "supervisor/daemon/recorder.hpp"
#include "supervisor/daemon/services.hpp"
#include "supervisor/daemon/turns.hpp"
#include "supervisor/daemon/worker_watch.hpp"

namespace trainward::daemon {

// What a turn has decided for a program, waiting for the transaction to be committed.
struct Decided {
  core::State state;
  core::Actions actions;
  std::size_t events = 0;
  Time at;
  store::AttemptRow before;  // the recorder's, should the transaction fail
};

class ProgramRunner final : public Participant {
 public:
  // `changed` is called after every committed turn.
  ProgramRunner(Services& services, config::Program program, std::function<void()> changed);
  ~ProgramRunner() override;
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // Goes on from the database: replays the journal, adopts a shim that lives, repeats what was
  // decided and not done. A program that is new, and autostarts, starts. `by_hand`: a person has
  // just started this daemon for these programs, so what was given up is tried again.
  Status recover(bool machine_restarted, bool by_hand);

  // Decided in the next turn of the loop.
  void handle(core::Event event);

  // As committed; events that wait for their turn are not in it yet.
  [[nodiscard]] const core::State& state() const { return state_; }
  [[nodiscard]] const config::Program& program() const { return program_; }
  // Nothing runs and nothing is on its way, or what runs cannot be ended by anybody.
  [[nodiscard]] bool at_rest() const;
  // The same as far as processes go, while the database refuses to hear of it.
  [[nodiscard]] bool at_rest_unrecorded() const;
  // What keeps this program from going on, in a sentence for `status`; empty: nothing that is
  // known.
  [[nodiscard]] std::string trouble() const;
  [[nodiscard]] bool busy() const { return !pending_.empty(); }

  // ---- Participant ----
  [[nodiscard]] bool wishes() const override;
  Status prepare() override;
  void finish(bool committed) override;

 private:
  void say(AttemptEvent event);
  void act_unrecorded();
  // With what waits to be recorded.
  [[nodiscard]] const core::State& newest() const {
    return unrecorded_.state ? *unrecorded_.state : state_;
  }
  void execute(const core::Action& action);
  void arm();
  void show(const core::Actions& actions, Time at);
  // An event that the core has no part in.
  void note(const std::string& kind, const std::string& text);

  void do_probe();
  void probe_now();
  void do_repair(const core::Repair& order);
  void do_reset(const core::Repair& order);
  void keep_boards();
  [[nodiscard]] ProbeOrder probe_order() const;
  void begin_compiling_ahead(std::int64_t deadline_ms);
  void end_compiling_ahead(std::string_view why);
  void compile_while_no_board();
  void do_purge(const std::string& serial);
  void do_select(std::int64_t below);
  void do_launch(const core::Launch& order);
  void launch_now(const core::Launch& order);
  void do_verify(const core::VerifyCheckpoint& order);
  void verify_in_background(const core::VerifyCheckpoint& order, int tries);
  void do_prune();
  void do_signal(core::Signal signal);
  void do_check_activity();
  void watch_worker();
  void watch_boards();

  void follow(std::int64_t attempt);
  void on_attempt_ended();
  void on_all_seen();
  void deliver_exit();
  void resume_attempt(bool machine_restarted);
  Result<core::State> state_of_newest_attempt() const;
  void verify_unknown_checkpoints();
  // `work` runs on a thread and owns what it uses; what it returns runs here, unless this is gone
  // by then. `what`: "read the checkpoints", told when it takes long; `late`: instead of that.
  void in_background(std::string what, std::function<std::function<void()>()> work,
                     std::function<void()> late = {});
  // Looks at the worker's processes, whatever the files of the program are waiting for.
  void look_at_processes(std::function<std::function<void()>()> look);
  // `work` for a thread, its result for as long as this lives.
  [[nodiscard]] std::function<Background::Then()> unless_gone(
      std::function<Background::Then()> work) const;
  // Ends what an earlier attempt left, then goes on.
  void end_leftovers_then(std::function<void(const Status&)> then);
  [[nodiscard]] const hwprobe::Board* board(const std::string& serial) const;

  Services& services_;
  config::Program program_;
  core::Policy policy_;
  std::function<void()> changed_;
  Recorder recorder_;
  core::State state_;
  std::deque<AttemptEvent> pending_;

  std::optional<Decided> decided_;
  struct Unrecorded {  // what became of pending_ while the database refuses
    std::optional<core::State> state;
    std::size_t events = 0;       // of pending_, from its begin
    std::size_t carried_out = 0;  // actions, in their order
  };
  Unrecorded unrecorded_;

  Timer timer_;
  std::int64_t target_step_ = 0;
  std::unique_ptr<ChildProcess> child_;  // a probe
  std::unique_ptr<ResetOfBoards> reset_;
  std::unique_ptr<ChildProcess> ahead_;  // compiles while the board is reset, or there is none
  bool no_board_ = false;                // since when that was begun
  std::optional<hwprobe::Report> report_;
  std::optional<MeshPlace> place_;  // of the newest look
  Leases leases_;                   // of its boards, until the launch
  std::unique_ptr<AttemptFollower> attempt_;
  std::unique_ptr<ForeignWatch> foreign_;  // of a command that has to be watched from outside
  std::shared_ptr<WorkerWatch> worker_;
  hwprobe::Processes processes_;
  std::unique_ptr<BoardWatch> board_watch_;  // as long as worker_
  bool launching_ = false;                   // between the order and the shim
  bool exit_due_ = false;  // the attempt has ended; held until its checkpoints are judged
  std::optional<core::DaemonStarted> restarted_;  // told once the old attempt has ended
  std::map<std::string, std::string> verified_;   // checkpoint folder to its identity when read
  int verifying_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::daemon

// The shell around the core for one program: feeds it events, commits what it decides, does what
// it asks, and arms its deadline.
//
// Order of every turn: events → core → one transaction (state, records, journal offset) → side
// effects. When the commit fails nothing else happens: the events are kept and tried again, and
// meanwhile the shim keeps training and its journal going.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/journal.hpp"
#include "hwprobe/report.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/core/step.hpp"
#include "supervisor/daemon/child_process.hpp"
#include "supervisor/daemon/recorder.hpp"
#include "supervisor/daemon/services.hpp"
#include "supervisor/daemon/shim_process.hpp"

namespace trainward::daemon {

class ProgramRunner {
 public:
  // `changed` is called after every committed turn.
  ProgramRunner(Services& services, config::Program program, std::function<void()> changed);
  ~ProgramRunner();
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  // Goes on from the database: replays the journal, adopts a shim that lives, repeats what was
  // decided and not done. A program that is new, and autostarts, starts.
  Status recover();

  void handle(core::Event event);

  [[nodiscard]] const core::State& state() const { return state_; }
  [[nodiscard]] const config::Program& program() const { return program_; }
  // Nothing runs and nothing is on its way.
  [[nodiscard]] bool at_rest() const;

 private:
  struct Pending {
    core::Event event;
    Time at;
  };

  void drain();
  Status commit(const core::Actions& actions, const core::State& state, Time at);
  void execute(const core::Action& action);
  void arm();
  void show(const core::Actions& actions, Time at);

  void do_probe();
  void do_select();
  void do_launch(const core::Launch& order);
  void do_verify(const core::VerifyCheckpoint& order);
  void do_prune();
  void do_signal(core::Signal signal);

  void follow(std::int64_t attempt);
  void unfollow();
  void read_journal_now();
  void take_record(const JournalRecord& record);
  void on_shim_gone();
  void deliver_exit();
  void resume_attempt();

  Services& services_;
  config::Program program_;
  core::Policy policy_;
  std::function<void()> changed_;
  Recorder recorder_;
  core::State state_;
  std::deque<Pending> pending_;
  bool draining_ = false;
  Timer deadline_;
  Timer retry_;
  std::int64_t target_step_ = 0;

  std::unique_ptr<ChildProcess> probe_;
  std::optional<hwprobe::Report> report_;
  std::unique_ptr<ShimProcess> shim_;
  std::optional<int> journal_watch_;
  std::filesystem::path folder_;     // of the attempt that is followed
  std::int64_t journal_offset_ = 0;  // read so far
  // Reported, held until the shim is gone and the checkpoints it left are judged.
  std::optional<Pending> exit_;
  std::int64_t exit_offset_ = 0;  // of the record it was read from
  bool shim_gone_ = false;
  int verifying_ = 0;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::daemon

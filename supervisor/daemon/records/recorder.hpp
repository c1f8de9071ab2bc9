// The core's record actions as rows of the run database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/decide/session/ports.hpp"
#include "supervisor/record/store/store.hpp"

namespace trainward::daemon {

// One program's rows. Writes inside a transaction that the caller holds.
class Recorder final : public session::Records {
 public:
  Recorder(store::Store& store, const Paths& paths, const config::Program& program);

  // Picks the newest attempt up again after a restart of the daemon. `known_boot`: the start of the
  // machine that the program has heard of.
  Status recover(std::int64_t attempt, std::string known_boot);

  // ---- session::Records ----
  Status record(const session::Happening& what, const core::State& state,
                std::span<const core::Action> actions) override;
  Status save(const core::State& state, Time at,
              std::optional<session::JournalPlace> read) override;
  void settle(bool committed) override;

  // As it was when the transaction that is open began, with what that has added so far.
  [[nodiscard]] const store::AttemptRow& attempt() const { return now_.attempt; }
  // Of the turn that was committed last.
  [[nodiscard]] const std::vector<WorkerSample>& samples() const { return told_; }
  // That the attempt will have which begins next; another one after forget_next_nonce().
  const std::string& next_nonce();
  void forget_next_nonce() { next_nonce_.clear(); }
  // What the worker is known to have been told, of an attempt that somebody else has launched.
  void told(std::string nonce, std::string plan);

 private:
  Status record(const core::Action& action, const core::State& state, Time at);
  Status begin(const core::RecordAttemptBegun& begun, const core::State& state, Time at);
  Status resumed(const core::RecordResumed& resumed);
  Status end(const core::RecordAttemptEnded& ended, const core::State& state, Time at);
  Status add(const core::RecordStep& step, std::int64_t attempt, Time at);
  Status add(const DeviceWindow& window, std::int64_t attempt, Time at);
  Status keep(const core::RecordCheckpoint& checkpoint, Time at);
  Status add(const session::CompiledProgram& compiled, std::int64_t attempt, Time at);
  Status add(const session::AttemptProcesses& processes, std::int64_t attempt);
  Status add(const WorkerSample& said, std::int64_t attempt, Time at);

  store::Store& store_;
  Paths paths_;
  std::string program_;
  std::string digest_;
  std::int64_t target_step_;
  std::int64_t steps_keep_;
  int steps_until_thinning_;
  struct Known {
    store::AttemptRow attempt;  // number 0: none yet
    std::string boot;
    std::vector<WorkerSample> samples = {};  // of this turn
  };
  std::string next_nonce_;
  Known now_;
  Known committed_;
  std::vector<WorkerSample> told_;
};

}  // namespace trainward::daemon

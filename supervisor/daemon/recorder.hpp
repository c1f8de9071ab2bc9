// The core's record actions as rows of the run database.
#pragma once

#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/core/step.hpp"
#include "supervisor/daemon/journal_events.hpp"
#include "supervisor/daemon/paths.hpp"
#include "supervisor/store/store.hpp"

namespace trainward::daemon {

// Why an attempt ended, a row each.
Status add_evidence(store::Store& store, const std::string& program, std::int64_t attempt,
                    const std::vector<core::Evidence>& evidence);

// The attempt after `ended` resumed at `step`: a checkpoint that nobody had verified when `ended`
// did has been since. Writes the row when it kept more than was known.
Status keep_what_is_resumed(store::Store& store, store::AttemptRow& ended, std::int64_t step);

// A program that the attempt compiled or found in its cache, and an event when an entry of the
// cache was thrown away.
Status add_compiled(store::Store& store, const std::string& program, std::int64_t attempt,
                    const CompiledProgram& compiled, Time at);

// One program's rows. Writes inside a transaction that the caller holds.
class Recorder {
 public:
  Recorder(store::Store& store, const Paths& paths, std::string program)
      : store_(store), paths_(paths), program_(std::move(program)) {}

  // Picks the newest attempt up again after a restart of the daemon.
  Status recover(std::int64_t attempt);

  // Records what `action` asks for; side effects are not its business and are ignored.
  Status record(const core::Action& action, const core::State& state, Time at);

  // The program's row and its attempt's progress, once after all actions of a transaction.
  Status save_state(const core::State& state, const std::string& config_digest,
                    std::int64_t target_step, Time at);

  // As it was before a transaction that was not committed.
  void restore(store::AttemptRow attempt) { attempt_ = std::move(attempt); }

  [[nodiscard]] const store::AttemptRow& attempt() const { return attempt_; }

 private:
  store::Store& store_;
  const Paths& paths_;
  std::string program_;
  store::AttemptRow attempt_;  // number 0: none yet
};

}  // namespace trainward::daemon

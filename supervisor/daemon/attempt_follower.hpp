// One attempt, from the daemon's side: its journal, its shim, and how it ended.
//
// Made for an attempt this daemon launches, or for one that an earlier daemon left. The journal is
// read from an offset that is committed together with what its records caused, so each record
// counts once. The exit is held back until the shim is gone: only then are the leases free.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>

#include "common/clock.hpp"
#include "common/journal.hpp"
#include "supervisor/core/event.hpp"
#include "supervisor/daemon/journal_events.hpp"
#include "supervisor/daemon/log_evidence.hpp"
#include "supervisor/daemon/services.hpp"
#include "supervisor/daemon/shim_process.hpp"

namespace trainward::daemon {

struct AttemptEvent {
  core::Event event;
  Time at;
  std::optional<CompiledProgram> compiled = {};  // told of in the same message
};

class AttemptFollower {
 public:
  struct Attempt {
    std::string program;
    std::int64_t number = 0;
    std::filesystem::path folder;
    std::filesystem::path checkpoints;  // only folders in here count as checkpoints
    std::int64_t offset = 0;            // of the journal: counted so far
  };
  struct Listener {
    std::function<void(AttemptEvent)> said;  // in the order of the journal
    std::function<void()> caught_up;         // behind() no longer: whatever the last piece said
    std::function<void()> ended;             // exit() is there; once, and nothing is said after it
  };

  AttemptFollower(Services& services, Attempt attempt, Listener listener);
  ~AttemptFollower();
  AttemptFollower(const AttemptFollower&) = delete;
  AttemptFollower& operator=(const AttemptFollower&) = delete;

  // Reads the next piece of the journal, some hundred records.
  void read();
  [[nodiscard]] bool behind() const { return behind_; }  // there is more to read
  // The shim this daemon has just started.
  Status watch_child(pid_t pid);
  // Looks for a shim that lives. When there is none, the attempt has ended, or was never launched:
  // `ended` follows on the loop. Returns whether one lives or may be about to start.
  bool adopt();

  // Without a shim it sees whether one can still exist, and ends the attempt when not. A kill goes
  // to the shim; the second one (`kills_sent`) to the worker as well, and the third to both.
  Status send(core::Signal signal, int kills_sent);

  [[nodiscard]] std::int64_t number() const { return attempt_.number; }
  // Its shim is gone, and `ended` was called.
  [[nodiscard]] bool over() const { return over_; }
  // That its shim is stopped and does nothing, in words; empty: it is not.
  [[nodiscard]] std::string shim_trouble() const { return shim_ ? shim_->trouble() : ""; }
  [[nodiscard]] const std::optional<AttemptEvent>& exit() const { return exit_; }
  // What its logs say, for the exit.
  void add_evidence(LogEvidence evidence);
  // As its journal names it; nothing before it has.
  [[nodiscard]] const std::optional<ProcessId>& shim() const { return shim_id_; }
  [[nodiscard]] const std::filesystem::path& folder() const { return attempt_.folder; }
  // What a next daemon has to read again when nothing more is committed: a held exit counts as
  // unread.
  [[nodiscard]] std::int64_t offset() const { return exit_ ? exit_offset_ : offset_; }

 private:
  void read_on();
  void take(const JournalRecord& record);
  void take_started(const JournalRecord& record);
  void on_shim_gone();
  void end_later();

  Services& services_;
  Attempt attempt_;
  Listener listener_;
  FileWatcher::Subscription watch_;
  std::unique_ptr<ShimProcess> shim_;
  std::optional<ProcessId> shim_id_;  // from the journal
  std::int64_t offset_;
  std::optional<AttemptEvent> exit_;
  std::int64_t exit_offset_ = 0;
  bool adopting_ = false;
  bool behind_ = false;
  bool over_ = false;
  bool told_unreadable_ = false;
  bool told_range_ = false;  // one warning an attempt
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::daemon

// A program's past, told once more to a session that writes into a new database, or into one that
// is older than the past: a backup, a snapshot, one whose newest commits a power cut has taken.
//
// Journals and logs are read as they were then. What the core asks for besides is answered with
// what the attempts' folders say came of it: the board that an attempt had was usable, the
// checkpoint that it resumed from was chosen, one that a worker reported was good. Nothing is
// launched, signalled, verified or deleted. Time is that of the records; what happened between two
// attempts is known by its end only. A worker that lives is left as launched, its journal unread:
// the daemon takes it over and reads it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/crash_rules.hpp"
#include "supervisor/daemon/attempt/journal_file.hpp"
#include "supervisor/daemon/records/past_attempt.hpp"
#include "supervisor/daemon/records/recorder.hpp"
#include "supervisor/daemon/records/recovery.hpp"
#include "supervisor/decide/session/session.hpp"

namespace trainward::daemon {

class Replay final : private session::Clock,
                     private session::Database,
                     private session::Records,
                     private session::Hands,
                     private session::Shim {
 public:
  Replay(store::Store& store, const Paths& paths, const config::Program& program,
         CrashRules::Reader read_logs);

  // Inside a transaction of the caller. `past`: all there was; not empty, oldest first. Returns how
  // many steps were recorded.
  Result<std::int64_t> run(const std::vector<PastAttempt>& past);
  // The same from what the database knows on. `newer`: what it does not know.
  Result<std::int64_t> go_on(Stored stored, const std::vector<PastAttempt>& newer);

 private:
  // ---- the session's ports ----
  [[nodiscard]] Time now() const override { return now_; }
  void soon(std::function<void()> work) override { posts_.push_back(std::move(work)); }
  void at(MonoTime when, std::function<void()> work) override;
  void cancel() override { alarm_ = nullptr; }
  Status transact(session::Survives survives, const std::function<Status()>& write) override;
  Status record(const session::Happening& what, const core::State& state,
                std::span<const core::Action> actions) override;
  Status save(const core::State& state, Time at,
              std::optional<session::JournalPlace> read) override;
  void settle(bool committed) override { recorder_.settle(committed); }
  void probe() override {}
  void repair(const core::Repair& order) override { repair_ = order.repair; }
  void select(const core::SelectCheckpoint& /*order*/) override {}
  void verify(const core::VerifyCheckpoint& order) override;
  void prune() override {}
  void check_activity() override {}
  void find_unjudged(std::int64_t /*attempt*/) override { session_.unjudged({}); }
  Status launch(const core::Launch& order) override;
  void follow(std::int64_t /*attempt*/) override {}
  session::JournalPiece read(std::int64_t offset) override;
  session::Found find() override { return session::Found::lives; }  // until end()
  session::Found signal(core::Signal /*signal*/) override { return session::Found::lives; }
  std::string last_words() override { return {}; }
  void look_back(bool logs) override;

  void tell(core::Event event);
  void pump();
  void go_to(Time time);
  void hear_of_boot(const std::string& boot);
  void bring_to_launch();
  void read_from(const PastAttempt& past, std::int64_t offset);
  Result<std::int64_t> tell_of(const std::vector<PastAttempt>& past);
  void end_unless_cut_off(const std::string& next_boot);
  void end();
  [[nodiscard]] core::ProbeFinished boards() const;
  Status settle_wish();

  store::Store& store_;
  const Paths& paths_;
  const config::Program& program_;
  CrashRules::Reader read_logs_;
  Recorder recorder_;
  session::Turns turns_;
  session::Session session_;

  const PastAttempt* past_ = nullptr;  // the attempt that is told
  Time now_;
  std::string boot_;  // the machine's start that now_ belongs to
  std::deque<std::function<void()>> posts_;
  MonoTime alarm_at_;
  std::function<void()> alarm_;
  core::Remedy repair_ = core::Remedy::retry;  // that was asked for
  Status written_;                             // the newest transaction
  std::int64_t steps_ = 0;
  std::vector<std::string> gone_;  // checkpoints that were pruned since

  std::optional<JournalFile> journal_;
  std::int64_t file_offset_ = 0;
  bool more_in_file_ = false;
  std::deque<session::Happening> unread_;
  std::optional<session::Happening> ending_;
};

}  // namespace trainward::daemon

// The run database on the simulated disk: what a daemon has committed, and the next one begins
// with.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "supervisor/decide/session/ports.hpp"
#include "supervisor/decide/sim/invariants.hpp"
#include "supervisor/decide/sim/kill_point.hpp"

namespace trainward::sim {

class Database final : public session::Database, public session::Records {
 public:
  Database(Machine& machine, Checker& checker, KillPoint& kill)
      : m_(machine), checker_(checker), kill_(kill) {}

  // ---- session::Database ----
  Status transact(session::Survives survives, const std::function<Status()>& write) override;
  // ---- session::Records ----
  Status record(const session::Happening& what, const core::State& state,
                std::span<const core::Action> actions) override;
  Status save(const core::State& state, Time at,
              std::optional<session::JournalPlace> read) override;
  void settle(bool /*committed*/) override {}

  [[nodiscard]] bool has_program() const { return has_program_; }
  [[nodiscard]] const core::State& state() const { return state_; }
  // Of the journal of the state's attempt.
  [[nodiscard]] std::int64_t counted() const {
    return place_.attempt == state_.attempt ? place_.offset : 0;
  }
  [[nodiscard]] bool judged(const std::string& checkpoint) const {
    return judged_.contains(checkpoint);
  }
  // Of the machine's start that the newest state knows of.
  [[nodiscard]] std::int64_t boot_true_ms() const { return boot_true_ms_; }
  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  static Status refusal();

  Machine& m_;
  Checker& checker_;
  KillPoint& kill_;
  // Of the transaction that is open: it will be committed; it fails at its first row.
  bool takes_ = false;
  bool refuses_rows_ = false;
  bool has_program_ = false;
  core::State state_;
  session::JournalPlace place_;
  std::set<std::string> judged_;  // checkpoints of the newest attempt
  std::int64_t boot_true_ms_ = -60'000;
  std::int64_t events_ = 0;
};

}  // namespace trainward::sim

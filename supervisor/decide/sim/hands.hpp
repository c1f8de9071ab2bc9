// What the simulated daemon does to the simulated machine, and when it learns of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "supervisor/decide/session/session.hpp"
#include "supervisor/decide/sim/database.hpp"
#include "supervisor/decide/sim/parts/site.hpp"

namespace trainward::sim {

class Hands final : public session::Hands, public session::Shim {
 public:
  Hands(Site& site, const Database& database, Checker& checker, KillPoint& kill)
      : site_(site), m_(site.machine), database_(database), checker_(checker), kill_(kill) {}

  // Of a daemon that begins; nothing was asked for yet.
  void serve(session::Session* session);

  // ---- session::Hands ----
  void probe() override;
  void repair(const core::Repair& order) override;
  void select(const core::SelectCheckpoint& order) override;
  void verify(const core::VerifyCheckpoint& order) override;
  void prune() override;
  void check_activity() override;
  void find_unjudged(std::int64_t attempt) override;
  void recorded(const core::Actions& actions, Time at) override;
  void turned(bool committed) override;
  // ---- session::Shim ----
  Status launch(const core::Launch& order) override;
  void follow(std::int64_t attempt) override { following_ = attempt; }
  session::JournalPiece read(std::int64_t offset) override;
  session::Found find() override;
  session::Found signal(core::Signal signal) override;
  std::string last_words() override { return {}; }
  void look_back(bool logs) override;

  // ---- the machine's ----
  void on_answer(std::int64_t id);
  void on_journal(std::int64_t attempt);
  void on_shim_gone(std::int64_t attempt);
  // Something was asked for whose answer will be an event.
  [[nodiscard]] bool owe_an_answer() const { return !asked_.empty(); }

 private:
  void ask(std::int64_t takes_ms, std::function<void()> answer);
  [[nodiscard]] core::ProbeFinished look() const;
  void offer_mesh(core::ProbeFinished& found) const;
  void judge(core::CheckpointVerified verdict);

  Site& site_;
  Machine& m_;
  const Database& database_;
  Checker& checker_;
  KillPoint& kill_;
  session::Session* session_ = nullptr;
  struct Asked {
    std::int64_t id = 0;
    std::function<void()> answer;
  };
  std::vector<Asked> asked_;  // not answered yet
  std::int64_t ids_ = 0;
  std::int64_t following_ = 0;
  bool watches_shim_ = false;
  std::int64_t next_sample_true_ms_ = 0;
};

}  // namespace trainward::sim

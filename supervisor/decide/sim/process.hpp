// The process of the simulated daemon: it begins, runs the session that ships on a loop of its own,
// is asked to go, and is killed in the middle of anything.
#pragma once

#include <cstdint>
#include <optional>

#include "supervisor/decide/sim/database.hpp"
#include "supervisor/decide/sim/hands.hpp"
#include "supervisor/decide/sim/parts/alarm.hpp"
#include "supervisor/decide/sim/parts/decider.hpp"

namespace trainward::sim {

class Process {
 public:
  Process(Site& site, const Decider& decider, Checker& checker)
      : m_(site.machine),
        decider_(decider),
        database_(site.machine, checker, kill_),
        hands_(site, database_, checker, kill_) {}

  // Whether the machine was restarted since the last daemon it finds out by itself.
  void begin();
  void die();
  void crash();  // dies, and is started again after a while
  // 0: before it decides on the next turn; n: n dealings with the world later.
  void die_at(std::int64_t passages) { kill_.arm(passages); }
  void handle(core::Event event);
  void shut_down(std::int64_t comes_back_after_ms);
  // What is due is its business.
  void take(const Item& item);

  [[nodiscard]] bool alive() const { return life_.has_value(); }
  // Nothing is left to be decided right now.
  [[nodiscard]] bool settled() const;
  [[nodiscard]] bool waits_for_answer() const { return hands_.owe_an_answer(); }
  [[nodiscard]] const Database& database() const { return database_; }

 private:
  struct Life {
    explicit Life(Process& process);
    Alarm timer;
    Alarm retry;
    session::Turns turns;
    session::Session session;
  };
  template <typename Work>
  void live(Work work);
  void leave_if_done();

  Machine& m_;
  const Decider& decider_;
  KillPoint kill_;
  Database database_;
  Hands hands_;
  Alarm::Posts posts_;
  std::optional<std::int64_t> leaving_;  // for how long
  std::optional<Life> life_;
};

}  // namespace trainward::sim

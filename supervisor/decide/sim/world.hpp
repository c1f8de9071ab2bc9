// One scenario, played from its begin to its horizon with one decider.
//
// Same scenario, same decider: same events, same digest. Ends early when a promise is broken.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "supervisor/decide/sim/process.hpp"

namespace trainward::sim {

struct Outcome {
  std::optional<Violation> violation;
  std::uint64_t digest = 0;
  std::int64_t events = 0;  // decided on
  std::int64_t ended_ms = 0;
  Score score;
  core::State state;
};

class World {
 public:
  World(const Scenario& scenario, const Decider& decider);

  Outcome run();
  // Told every event and what was decided about it; for traces.
  using Narrator = std::function<void(std::int64_t true_ms, const std::string& line)>;
  void tell(Narrator narrator);
  // Told what is committed: each event, its time, the state after it, and what was asked for.
  void listen(Checker::Listener listener) { checker_.listen(std::move(listener)); }

 private:
  void dispatch(const Item& item);
  void inject(const Injection& injection);
  void inject_machine(const Injection& injection);
  void restart_machine(std::int64_t down_ms);
  void break_board(const Injection& injection);
  void heal(std::int64_t id);
  void look();
  void say(const std::string& line);
  [[nodiscard]] const core::State& state() const { return process_.database().state(); }

  const Scenario& scenario_;
  const Decider& decider_;
  Site site_;
  Machine& m_;
  Checker checker_;
  Process process_;
  Narrator narrator_;
  std::int64_t progress_at_last_look_ = -1;
};

Outcome play(const Scenario& scenario, const Decider& decider);

}  // namespace trainward::sim

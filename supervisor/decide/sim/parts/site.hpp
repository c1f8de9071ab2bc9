// The machine, the worker that runs on it, and the faults that wait for a worker's moment.
#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "supervisor/decide/sim/parts/sim_machine.hpp"
#include "supervisor/decide/sim/parts/sim_worker.hpp"

namespace trainward::sim {

struct Site {
  explicit Site(const Setup& setup) : machine(setup) {}

  Machine machine;
  std::unique_ptr<Worker> worker;         // of the newest attempt that got one
  std::optional<Order> spawning;          // the shim runs, the worker does not yet
  std::vector<core::Signal> undelivered;  // to a worker that does not run yet
  std::vector<Injection> waiting;
  bool breach_next = false;  // the next worker starts from step 0

  // The shim of this attempt has come so far that its worker runs.
  void spawn(std::int64_t attempt) {
    if (!spawning || spawning->attempt != attempt) return;
    worker = std::make_unique<Worker>(machine, *std::exchange(spawning, std::nullopt), waiting);
    for (const core::Signal signal : std::exchange(undelivered, {})) worker->signal(signal);
  }
  [[nodiscard]] bool worker_alive() const { return worker && worker->alive(); }
};

}  // namespace trainward::sim

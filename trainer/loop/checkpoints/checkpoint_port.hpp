// How the training loop saves: begun at a step, answered later.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "checkpoint/saver.hpp"
#include "trainer/loop/reporting/training_progress.hpp"

namespace trainward::trainer {

class CheckpointPort {
 public:
  using Outcome = checkpoint::Saver::Outcome;

  CheckpointPort() = default;
  CheckpointPort(const CheckpointPort&) = delete;
  CheckpointPort& operator=(const CheckpointPort&) = delete;
  virtual ~CheckpointPort() = default;

  // The model may train on when it returns. Refused (transient) while pending().
  virtual Status begin(const Progress& progress) = 0;
  // Step of the save whose outcome has not been taken.
  [[nodiscard]] virtual std::optional<std::int64_t> pending() const = 0;
  virtual std::optional<Outcome> take() = 0;  // empty while it is running
  virtual std::optional<Outcome> wait() = 0;  // empty only if no save is pending
  // After each step: leaves the state in memory where that is due. `took`: the step.
  virtual void remember(const Progress& /*progress*/, std::chrono::nanoseconds /*took*/) {}
  // The newest step of this attempt that is in memory; 0: none.
  [[nodiscard]] virtual std::int64_t in_memory() const { return 0; }
  // Has the checkpoints of these steps stay, and those that stayed for the same reason before go.
  virtual Status keep(const std::vector<Evaluated>& best) = 0;
};

}  // namespace trainward::trainer

// Who computes the parts of a training step: the CPU executor (cpu/cpu_model.cpp), or the devices
// of a plugin (trainer/device/device_model.cpp). The order of the parts is the Stepper's.
//
// Of each batch: embed, forward for every layer, head, backward for every layer from the last,
// embed_backward. What a part leaves for the next stays with the executor. After the last batch
// update. A batch that is not trained on: embed, forward, evaluate. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/batch/token_batch.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// One batch, [batch, block], for each part that works on its own (parts()).
using BatchTokens = std::vector<TokenBatch>;

// Only training drops anything and keeps what its backward needs.
enum class Purpose { training, evaluation };

// Which of a step's batches.
struct BatchOfStep {
  std::int64_t number = 0;
  bool first = true;  // its gradients overwrite those of the step before; the others add to them
  bool last = true;   // after it a gradient is complete
};

class StepExecutor {
 public:
  StepExecutor() = default;
  StepExecutor(const StepExecutor&) = delete;
  StepExecutor& operator=(const StepExecutor&) = delete;
  StepExecutor(StepExecutor&&) = delete;
  StepExecutor& operator=(StepExecutor&&) = delete;
  virtual ~StepExecutor() = default;

  // Devices that each take a batch of their own at a time.
  [[nodiscard]] virtual std::size_t parts() const { return 1; }
  [[nodiscard]] virtual bool evaluates() const { return true; }

  // The step after so many.
  virtual void begin(std::int64_t steps_done) = 0;
  virtual Status embed(const BatchTokens& tokens) = 0;
  virtual Status forward(std::size_t layer, const BatchOfStep& batch, Purpose purpose) = 0;
  virtual Status head(const BatchTokens& tokens, const BatchOfStep& batch) = 0;
  virtual Status backward(std::size_t layer, const BatchOfStep& batch) = 0;
  virtual Status embed_backward(const BatchTokens& tokens, const BatchOfStep& batch) = 0;
  // Step number `t`. Error permanent when loss or norm are no numbers.
  virtual Result<StepResult> update(std::int64_t t) = 0;
  virtual Result<double> evaluate(const BatchTokens& tokens) = 0;

  // The state from the host's arrays to where it is worked on, and back there.
  virtual Status upload() = 0;
  virtual Status download() = 0;

  // As of Trainable.
  virtual Result<std::vector<std::uint64_t>> checksums() = 0;

  virtual std::vector<PartUse> take_use() { return {}; }  // as of Trainable

  [[nodiscard]] virtual std::size_t arena_bytes() const = 0;  // of the host, without the state
  // As of Trainable.
  [[nodiscard]] virtual std::optional<DeviceMemory> device_memory() const { return {}; }
  [[nodiscard]] virtual std::optional<double> peak_flops() const { return {}; }
};

}  // namespace trainward::trainer

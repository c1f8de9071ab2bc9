// What the training loop needs of a model: run a step, show the state, take the state back.
//
// One thread uses a Trainable at a time. All buffers are allocated when it is made; step()
// allocates nothing that grows. Same state, same tokens, same thread count: same bits.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "checkpoint/reader.hpp"
#include "common/base/error.hpp"
#include "trainer/batch/token_batch.hpp"

namespace trainward::trainer {

struct StepResult {
  double loss = 0;       // mean cross-entropy in nats over what the step predicts
  double grad_norm = 0;  // global L2 norm before clipping
  // Time it spent on exchange with other ranks, and waiting for them.
  std::int64_t communication_us = 0;
  // As `loss`, of this rank's own share; with weights as if all had as much as it has.
  double own_loss = 0;
};

// Of the fullest device, in bytes.
struct DeviceMemory {
  std::int64_t most = 0;  // that was in use so far
  std::optional<std::int64_t> limit;

  friend bool operator==(const DeviceMemory&, const DeviceMemory&) = default;
};

// What one device or rank did in some steps.
struct PartUse {
  std::optional<double> loss = {};  // the sum over the steps of the mean over its own share
  std::optional<std::chrono::nanoseconds> compute = {};     // by itself
  std::optional<std::chrono::nanoseconds> collective = {};  // exchange, waiting for others included
  std::optional<DeviceMemory> memory = {};
};

// Kind permanent, when the loss or the norm of step number `step` is no number.
Status check_finite(const StepResult& result, std::int64_t step);

class Trainable {
 public:
  Trainable() = default;
  Trainable(const Trainable&) = delete;
  Trainable& operator=(const Trainable&) = delete;
  Trainable(Trainable&&) = delete;
  Trainable& operator=(Trainable&&) = delete;
  virtual ~Trainable() = default;

  // All sequences of the step; with weights and segments where the spec says so.
  virtual Result<StepResult> step(const TokenBatch& tokens) = 0;

  // Called in every step right before the state changes, so that a reader of the state beside the
  // work has ended by then. False: this model cannot tell, and the state must be left alone from
  // step() on.
  // NOLINTNEXTLINE(performance-unnecessary-value-param): a model that calls it keeps it
  virtual bool before_update(std::function<void()> /*settle*/) { return false; }

  // Loss of one batch that is not trained on: its mean, or with weights their sum. Of one batch
  // whatever makes a step. Nothing is dropped, and nothing of the model changes.
  virtual Result<double> evaluate(const TokenBatch& tokens) = 0;

  // Brings what the two views below show up to date, where the state itself is not in this
  // process's memory. Errors are those of where it is.
  virtual Status gather_state() { return {}; }

  // Borrowed views, valid until the next step() or restore(). Names are the architecture's
  // ("core.blocks.0.mha.q.weight", "h.0.attn.c_attn.weight", …); moments are "<parameter>.exp_avg"
  // and "<parameter>.exp_avg_sq".
  [[nodiscard]] virtual std::vector<checkpoint::TensorView> model_state() const = 0;
  [[nodiscard]] virtual std::vector<checkpoint::TensorView> optimizer_state() const = 0;

  // Where the values of each parameter lie, trained or not, by its place in the model's table
  // (parameters.hpp). They stay there as long as the model lives, and are those of the last
  // gather_state(). Empty: not in this process's memory.
  [[nodiscard]] virtual std::vector<const void*> weights() const { return {}; }

  // Has the state filled in, straight into place. After an error it may hold anything and must be
  // restored again before it is used. `steps_done` is the optimizer's step count.
  virtual Status restore(const checkpoint::FillTensors& fill, std::int64_t steps_done) = 0;

  [[nodiscard]] virtual std::int64_t parameter_count() const = 0;   // that are trained
  [[nodiscard]] virtual std::int64_t total_parameters() const = 0;  // with those that are not
  [[nodiscard]] virtual std::size_t arena_bytes() const = 0;

  // Of all that is trained, for each copy of it: one a device or rank, in their order. Equal
  // copies have equal ones.
  virtual Result<std::vector<std::uint64_t>> checksums() = 0;

  // Of the steps since it was last asked, for each device or rank, in their order. Empty where
  // there is one, or where it is not known apart.
  virtual Result<std::vector<PartUse>> take_use() { return std::vector<PartUse>(); }

  // Of accelerators, where they tell.
  [[nodiscard]] virtual std::optional<DeviceMemory> device_memory() const { return {}; }
  // What one of them can do at most, in floating-point operations a second, where that is known.
  [[nodiscard]] virtual std::optional<double> peak_flops() const { return {}; }
};

}  // namespace trainward::trainer

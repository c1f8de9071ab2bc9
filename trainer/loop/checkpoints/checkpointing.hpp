// The checkpoints of a run: what goes into them, and saving them beside the training.
//
// Saves run in the background after reserve(), where the machine has memory for a second copy of
// the state; else, told once, they are made while the training waits. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>

#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/reader.hpp"
#include "trainer/loop/checkpoints/checkpoint_port.hpp"
#include "trainer/loop/checkpoints/state_in_memory.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// What a checkpoint held beside the model's own state, such as a head that is not trained: it goes
// into every later checkpoint as it was.
struct Carried {
  checkpoint::AlignedMemory memory;
  std::vector<checkpoint::TensorView> model;
  std::vector<checkpoint::TensorView> optimizer;
  std::int64_t read_ms = 0;  // of all tensors, from the disk or its cache
  json::object extra;        // keys of the training state that are not the trainer's own
};

// Fills `model` from the checkpoint and brings along whatever else it holds.
Result<Carried> restore(const checkpoint::Reader& reader, Trainable& model,
                        std::int64_t steps_done);

class Checkpointing final : public CheckpointPort {
 public:
  // `model` and `reporter` must outlive it.
  Checkpointing(std::filesystem::path root, Trainable& model, RunFacts facts, Carried carried,
                checkpoint::SaveOptions options, Reporter& reporter);
  ~Checkpointing() override;
  Checkpointing(const Checkpointing&) = delete;
  Checkpointing& operator=(const Checkpointing&) = delete;
  Checkpointing(Checkpointing&&) = delete;
  Checkpointing& operator=(Checkpointing&&) = delete;

  // Takes the memory for the copies. `available`: what the machine can give.
  void reserve(std::optional<std::int64_t> available);

  // Leaves the state in `memory`, which outlives this, between saves. `spare`: as CopyPace.
  void use_memory(StateInMemory& memory, std::optional<std::int64_t> available, bool spare);

  Status begin(const Progress& progress) override;
  [[nodiscard]] std::optional<std::int64_t> pending() const override;
  std::optional<Outcome> take() override;
  std::optional<Outcome> wait() override;
  void remember(const Progress& progress, std::chrono::nanoseconds took) override;
  [[nodiscard]] std::int64_t in_memory() const override;
  Status keep(const std::vector<Evaluated>& best) override;

 private:
  [[nodiscard]] checkpoint::Contents contents(const Progress& progress) const;
  std::optional<Outcome> with_hint(std::optional<Outcome> outcome);

  std::filesystem::path root_;
  Trainable& model_;
  RunFacts facts_;
  Carried carried_;
  checkpoint::SaveOptions options_;
  Reporter& reporter_;
  StateInMemory* memory_ = nullptr;
  bool settles_ = false;  // the model tells before its state changes
  bool in_background_ = false;
  bool hint_told_ = false;
  std::optional<Outcome> done_;  // of a save the training waited for
  checkpoint::Saver saver_;
};

}  // namespace trainward::trainer

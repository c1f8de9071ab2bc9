// The size of a model and what its training step needs to know.
//
// Plain values; check_spec() names the first that cannot be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>

#include "common/base/error.hpp"
#include "common/settings/worker_settings.hpp"
#include "trainer/graph/op.hpp"
#include "trainer/optim/schedule.hpp"

namespace trainward::trainer {

struct ModelSpec {
  std::int64_t width = 128;
  std::int64_t layers = 4;
  std::int64_t heads = 8;
  std::int64_t rank = 48;
  std::int64_t vocabulary = 257;
  bool tied = false;           // the head's weight is the embedding, and it has no bias
  std::int64_t positions = 0;  // longest text, where they are learned; 0: any length
  // Its family's place in architectures() (architecture.hpp): a number, because ranks send a spec
  // to each other as it lies in memory.
  std::size_t architecture = 0;

  // Rows the embedding and the head really have: accelerators tile by 32.
  [[nodiscard]] std::int64_t padded_vocabulary() const { return (vocabulary + 31) / 32 * 32; }
  [[nodiscard]] std::int64_t head_width() const { return width / heads; }
  // Of what the scores are products of: attention.hpp.
  [[nodiscard]] std::int64_t score_width() const { return std::min(rank, head_width()); }

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// Batches and accumulation are those of each process. Which parameters follow which of the two
// learning rates is the architecture's to say (RateGroup).
struct TrainingSpec : settings::StepSettings {
  ModelSpec model;
  std::int64_t ranks = 1;      // processes that share a step
  optim::Schedule schedule{};  // of both rates
  // bf16: weights and activations are rounded to it where they are multiplied. What is really used,
  // whether or not it is faster on this machine.
  graph::Precision precision = graph::Precision::f32;
  bool fused_attention = false;  // attention is one operation, which only some devices have
  bool initialise = true;        // else every parameter is zero until restore()

  [[nodiscard]] std::int64_t batches_per_step() const { return accumulation * ranks; }
  // The effective batch.
  [[nodiscard]] std::int64_t sequences_per_step() const { return batch_size * batches_per_step(); }
};

// Kind usage: sizes below one, a width that the heads do not divide, a block without a next token,
// a rate or factor that is negative or not a number, what the architecture cannot be.
Status check_spec(const TrainingSpec& spec);

// Kind usage: not as many tokens as `sequences` need, or one that is outside the vocabulary.
Status check_tokens(std::span<const std::int32_t> tokens, const TrainingSpec& spec,
                    std::int64_t sequences);

// The sizes that have a name (common/settings/model_presets.hpp); kind usage, with the nearest
// name, when there is none of it.
Result<ModelSpec> preset(std::string_view name);

}  // namespace trainward::trainer

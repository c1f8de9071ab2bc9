// The size of a model and what its training step needs to know.
//
// Plain values; check_spec() names the first that cannot be.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "common/base/error.hpp"
#include "common/settings/worker_settings.hpp"
#include "trainer/batch/token_batch.hpp"
#include "trainer/graph/op.hpp"
#include "trainer/model/own_part.hpp"
#include "trainer/optim/schedule.hpp"

namespace trainward::trainer {

// The products of a block that may have an adapter, as bits of LoraSpec::targets.
enum class Linear : std::uint32_t { q, k, v, o, gate, up, down };

// Adapters that alone are trained, over weights that stay as they are (Hu et al. 2021).
struct LoraSpec {
  std::int64_t rank = 0;  // 0: no adapters
  double alpha = 8;
  double dropout = 0;       // of an adapter's input
  bool stabilised = false;  // scaled by alpha / sqrt(rank) instead of alpha / rank
  std::uint32_t targets = 0;

  [[nodiscard]] bool used() const { return rank > 0; }
  [[nodiscard]] bool adapts(Linear which) const {
    return used() && (targets >> static_cast<std::uint32_t>(which) & 1U) != 0;
  }
  [[nodiscard]] double scale() const;

  friend bool operator==(const LoraSpec&, const LoraSpec&) = default;
};

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
  std::int64_t own_head_width = 0;  // of a head; 0: width / heads
  std::int64_t window = 0;  // tokens a token sees before it, where the model has a limit; 0: all
  OwnPart own{};
  LoraSpec lora{};
  // Of matrices that are not trained, as their files have them.
  graph::Element frozen = graph::Element::f32;

  // Rows the embedding and the head really have: accelerators tile by 32.
  [[nodiscard]] std::int64_t padded_vocabulary() const { return (vocabulary + 31) / 32 * 32; }
  [[nodiscard]] std::int64_t head_width() const {
    return own_head_width > 0 ? own_head_width : width / heads;
  }
  // Of what the scores are products of: attention.hpp.
  [[nodiscard]] std::int64_t score_width() const { return std::min(rank, head_width()); }

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// Batches and accumulation are those of each process. Which parameters follow which of the two
// learning rates is the architecture's to say (RateGroup).
struct TrainingSpec : settings::StepSettings {
  ModelSpec model;
  std::int64_t ranks = 1;      // processes, or rows of devices, that share a step's sequences
  std::int64_t columns = 1;    // devices of a row, which share the weights (columns.hpp)
  optim::Schedule schedule{};  // of both rates
  // bf16: weights and activations are rounded to it where they are multiplied. What is really used,
  // whether or not it is faster on this machine.
  graph::Precision precision = graph::Precision::f32;
  bool fused_attention = false;  // attention is one operation, for what has it
  bool initialise = true;        // else every parameter is zero until restore()
  // What batches have beside their ids (trainer/batch/token_batch.hpp).
  bool weighted = false;
  bool segmented = false;
  // That weighted predictions make at a time, or a little more.
  std::int64_t head_logits = std::int64_t{1} << 24;

  // Of tables that depend on it, where batches are computed in narrower rows than they are for; 0:
  // block_size.
  std::int64_t table_positions = 0;

  [[nodiscard]] std::int64_t positions() const {
    return table_positions > 0 ? table_positions : block_size;
  }
  [[nodiscard]] std::int64_t batches_per_step() const { return accumulation * ranks; }
  // The effective batch.
  [[nodiscard]] std::int64_t sequences_per_step() const { return batch_size * batches_per_step(); }
};

inline std::size_t layers_of(const TrainingSpec& spec) {
  return static_cast<std::size_t>(spec.model.layers);
}

// Kind usage: sizes below one, a width that the heads do not divide, a block without a next token,
// a rate or factor that is negative or not a number, what the architecture cannot be.
Status check_spec(const TrainingSpec& spec);

// Kind usage: not as many tokens, weights or segments as `sequences` need, or an id that is outside
// the vocabulary.
Status check_tokens(const TokenBatch& tokens, const TrainingSpec& spec, std::int64_t sequences);

// The sizes that have a name (common/settings/model_presets.hpp); kind usage, with the nearest
// name, for an unknown name.
Result<ModelSpec> preset(std::string_view name);

}  // namespace trainward::trainer

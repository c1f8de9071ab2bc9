// What a Llama has beside the sizes that all models have; ModelSpec::own of such a model.
#pragma once

#include <array>
#include <cstdint>

#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Rotary positions: how angles grow with the place of a token.
struct RopeSpec {
  enum class Scaling : std::int64_t { none, linear, llama3 } scaling = Scaling::none;
  double theta = 10000;
  double factor = 1;
  // Of `llama3`: wavelengths below positions / high stay, above positions / low are stretched.
  double low = 1;
  double high = 4;
  std::int64_t original_positions = 0;

  friend bool operator==(const RopeSpec&, const RopeSpec&) = default;
};

struct LlamaSpec {
  std::int64_t inner = 0;     // width of the feed-forward part
  std::int64_t kv_heads = 0;  // heads of keys and values; each serves as many queries' heads
  double norm_epsilon = 1e-5;
  RopeSpec rope{};
  double deviation = 0.02;  // of the first values of matrices
  bool qkv_biases = false;
  bool output_bias = false;  // of attention
  bool mlp_biases = false;
  bool qk_norms = false;
  std::array<bool, 4> unused{};  // no padding: own_part.hpp

  friend bool operator==(const LlamaSpec&, const LlamaSpec&) = default;
};
static_assert(sizeof(LlamaSpec) == sizeof(RopeSpec) + 5 * sizeof(double));

inline LlamaSpec llama_part(const ModelSpec& model) { return model.own.get<LlamaSpec>(); }
inline LlamaSpec& llama_part(ModelSpec& model) { return model.own.edit<LlamaSpec>(); }

}  // namespace trainward::trainer

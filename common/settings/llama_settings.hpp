// The sizes of a Llama that is trained from scratch, as a configuration gives them. The vocabulary
// comes from the data, the longest text from block_size.
//
// Plain values, which may be copied as they lie in memory; with the defaults that a config.json of
// this family has. llama_problem() names the first two that cannot be together.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::settings {

// How rotary positions reach beyond the texts that a model saw first; in the order of
// words::rope_scalings.
enum class RopeScaling : std::uint8_t { none, linear, llama3 };

struct LlamaSettings {
  std::int64_t hidden = 0;  // these three have no default: a Llama is what they say
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t intermediate = 0;  // 0: 8/3 of hidden, up to the next 256
  std::int64_t kv_heads = 0;      // 0: as many as heads
  std::int64_t head_dim = 0;      // 0: hidden / heads
  double rms_norm_eps = 1e-6;
  double rope_theta = 10000;
  RopeScaling rope_scaling = RopeScaling::none;
  double rope_factor = 0;  // 0: none
  double rope_low_freq_factor = 1;
  double rope_high_freq_factor = 4;
  std::int64_t rope_original_positions = 8192;
  bool tie_word_embeddings = false;
  bool attention_bias = false;
  bool mlp_bias = false;
  bool qk_norm = false;
  std::int64_t max_position_embeddings = 2048;
  double initializer_range = 0.02;

  // What the numbers that may be left out come to.
  [[nodiscard]] std::int64_t inner() const {
    constexpr std::int64_t step = 256;
    return intermediate > 0 ? intermediate : (hidden * 8 / 3 + step - 1) / step * step;
  }
  [[nodiscard]] std::int64_t groups() const { return kv_heads > 0 ? kv_heads : heads; }
  [[nodiscard]] std::int64_t head_width() const { return head_dim > 0 ? head_dim : hidden / heads; }
};

struct LlamaProblem {
  std::string_view key;  // below `llama`
  std::string what;
};

// In keys that are each in its range; 0 is a missing one of the first three.
inline std::optional<LlamaProblem> llama_problem(const LlamaSettings& of) {
  if (of.hidden == 0) return LlamaProblem{"hidden", "is missing: the width of the model"};
  if (of.layers == 0) return LlamaProblem{"layers", "is missing: how many blocks it has"};
  if (of.heads == 0) return LlamaProblem{"heads", "is missing: heads of attention in a block"};
  if (of.head_dim == 0 && of.hidden % of.heads != 0) {
    return LlamaProblem{"heads", fmt::format("does not divide hidden, {}, by {}; or give head_dim",
                                             of.hidden, of.heads)};
  }
  if (of.heads % of.groups() != 0) {
    return LlamaProblem{
        "kv_heads",
        fmt::format("is {}, and {} heads cannot be shared among so many", of.kv_heads, of.heads)};
  }
  const bool scaled = of.rope_scaling != RopeScaling::none;
  if (scaled && of.rope_factor == 0) {
    return LlamaProblem{"rope_scaling.factor", "is missing: by how much positions are stretched"};
  }
  if (!scaled && of.rope_factor != 0) {
    return LlamaProblem{"rope_scaling.type", "is missing: linear or llama3"};
  }
  const bool by_turns = of.rope_scaling == RopeScaling::llama3;
  if (by_turns && of.rope_high_freq_factor <= of.rope_low_freq_factor) {
    return LlamaProblem{"rope_scaling.high_freq_factor", "must be above low_freq_factor"};
  }
  return std::nullopt;
}

}  // namespace trainward::settings

// Low-rank adapters of a model: what they are made with, and what their tensors are called.
//
// A module "model.layers.0.self_attn.q_proj" of weight W [out, in] has A [r, in] and B [out, r],
// and stands for W + scale * B * A. Our checkpoints call them MODULE.lora_A.weight and
// MODULE.lora_B.weight, PEFT's files put "base_model.model." before that. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

struct LoraSettings {
  std::int64_t r = 8;
  double alpha = 8;
  double dropout = 0;
  bool rank_stabilised = false;  // use_rslora
  std::vector<std::string>
      target_modules;  // "q_proj"; names or their ends, all linears written out

  // What B * A is multiplied with: alpha / r, rank-stabilised alpha / sqrt(r).
  [[nodiscard]] double scale() const;
  friend bool operator==(const LoraSettings&, const LoraSettings&) = default;
};

// {"r", "lora_alpha", "lora_dropout", "use_rslora", "target_modules"}, PEFT's names and values;
// other keys are left alone. Kind corrupt: a value that cannot be.
json::object to_json(const LoraSettings& lora);
Result<LoraSettings> parse_lora(const json::object& object);

inline constexpr std::string_view peft_prefix = "base_model.model.";
inline constexpr std::string_view suffix_a = ".lora_A.weight";
inline constexpr std::string_view suffix_b = ".lora_B.weight";

// "model.layers.0.self_attn.q_proj" of either of its two tensors; nothing for another name.
std::optional<std::string_view> module_of(std::string_view tensor);

// Whole numbers as such: 16, not 16.0.
json::value number_value(double number);

}  // namespace trainward::checkpoint::huggingface

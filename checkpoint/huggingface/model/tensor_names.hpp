// What the tensors of a model's folder are called, beside their own names; with the defaults of the
// Llama family. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

struct TensorNames {
  std::string prefix;  // that a file may put before each name: "transformer."
  // Those with a row for each token; in a checkpoint they are padded.
  std::vector<std::string> by_token{"model.embed_tokens.weight", "lm_head.weight"};
  // Ends of the names of what follows from config.json, and is left out.
  std::vector<std::string> computed{".rotary_emb.inv_freq"};

  [[nodiscard]] bool is_by_token(std::string_view name) const;
  [[nodiscard]] bool is_computed(std::string_view name) const;
  // A file's name without the prefix.
  [[nodiscard]] std::string_view own(std::string_view name) const {
    return name.starts_with(prefix) ? name.substr(prefix.size()) : name;
  }

  friend bool operator==(const TensorNames&, const TensorNames&) = default;
};

json::object to_json(const TensorNames& names);
// Kind corrupt, naming the member.
Result<TensorNames> parse_tensor_names(const json::object& object);

}  // namespace trainward::checkpoint::huggingface

// What a config.json of GPT-2 says, as the sizes of a model; and back.
//
// Kind usage, with the key, for what would compute something else than is built here: another
// activation, scores scaled otherwise, cross-attention, an untied head, quantised weights. Pure.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Of a model that came with a config.json; ModelSpec::own (own_part.hpp).
struct Gpt2Spec {
  std::int64_t inner = 0;  // width of the feed-forward part; 0: four times the model's
  double norm_epsilon = 1e-5;
  double deviation = 0.02;  // of the first values of matrices

  friend bool operator==(const Gpt2Spec&, const Gpt2Spec&) = default;
};
static_assert(sizeof(Gpt2Spec) == 3 * sizeof(double));

inline std::int64_t gpt2_inner(const ModelSpec& model) {
  const std::int64_t inner = model.own.get<Gpt2Spec>().inner;
  return inner > 0 ? inner : 4 * model.width;
}

Result<ModelSpec> read_gpt2_config(const json::object& config, std::string_view where);
json::object gpt2_config(const ModelSpec& model);

}  // namespace trainward::trainer

// What a config.json of the Llama family says, as the sizes of a model; and back.
//
// Read in both spellings: of transformers 4 (rope_theta, rope_scaling, torch_dtype) and of 5
// (rope_parameters, dtype). What would compute something else than is built here is refused by its
// name (kind usage): other families, mixtures of experts, quantised weights, other ways to stretch
// positions. Pure.
#pragma once

#include <span>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/edition.hpp"
#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer {

// "llama", "mistral", …: what a config.json of the family has as model_type.
std::span<const std::string_view> llama_types();

// Sizes with the vocabulary of the file (vocab_size). `where` is named in errors. `edition`: of the
// run it is read for; the first took one of two keys that contradict each other.
Result<ModelSpec> read_llama_config(const json::object& config, std::string_view where,
                                    int edition = current_edition);

// A config.json for a model that has none, in the older spelling, which every reader knows.
json::object llama_config(const ModelSpec& model);

// Of a checkpoint (Architecture::sizes).
Result<ModelSpec> llama_of(const Shapes& shapes, const json::object& facts,
                           std::int64_t vocabulary);

// Kind usage: what such a model cannot be, or texts longer than it is made for.
Status check_llama(const ModelSpec& model, std::int64_t block_size);

}  // namespace trainward::trainer

// How a config.json says that positions are rotated, in both spellings; and back.
//
// Kind usage, with the key: another way to stretch them, layers that differ, numbers that do not
// fit together. Pure.
#pragma once

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/model/huggingface/config_reader.hpp"
#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer {

// "rope_parameters", or "rope_theta" and "rope_scaling".
Result<RopeSpec> read_rope(const ConfigReader& config, int edition);

// The older spelling's "rope_scaling"; there must be some.
json::object rope_scaling(const RopeSpec& rope);

}  // namespace trainward::trainer

// The configuration files of a folder that is written: those that were read, with what training
// changed. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

// The same members in the same order, unknown ones too, but: the element type, under the name it
// had ("torch_dtype" or "dtype"); and "rope_parameters" of newer versions as the older pair
// "rope_theta" and "rope_scaling", which every version and every server reads.
json::object written_config(const json::object& config, DType type);

// generation_config.json: that of the base, with `end_tokens` among those that end an answer, for a
// server stops on these and on nothing else. Without one, what config.json says of such tokens;
// nothing when there is nothing to say.
std::optional<json::object> written_generation(const std::optional<json::object>& base,
                                               const json::object& config,
                                               const std::vector<std::int64_t>& end_tokens);

// The element type that a config.json names, under either name.
std::optional<DType> type_in(const json::object& config);

bool is_tied(const json::object& config);

}  // namespace trainward::checkpoint::huggingface

// adapter_config.json, as PEFT writes it.
//
// In: text of foreign origin, at most 1 MiB. Out: the settings; or an error of kind usage that
// names the key which asks for what is not done here (DoRA, modules_to_save, bias, rank_pattern,
// …), or of kind corrupt. Pure.
#pragma once

#include <string>
#include <string_view>

#include "checkpoint/huggingface/model/lora.hpp"
#include "common/base/error.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

struct AdapterConfig {
  LoraSettings lora;
  std::string base;  // base_model_name_or_path: a folder or a name on the hub; may be empty
};

Result<AdapterConfig> parse_adapter_config(std::string_view text, std::string_view where);

// Every key that PEFT wants, in their order.
json::object to_json(const AdapterConfig& config);

}  // namespace trainward::checkpoint::huggingface

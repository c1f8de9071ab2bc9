// Adapters as a checkpoint, a configuration or PEFT's adapter_config.json describes them. Pure.
#pragma once

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// The adapters of a checkpoint or an adapter_config.json: r, lora_alpha, lora_dropout, use_rslora,
// target_modules as in PEFT (a list of names that are exact or end with ".name", or "all-linear").
Result<LoraSpec> read_lora(const json::object& lora, std::string_view where);
json::object lora_config(const LoraSpec& lora);
// One name of target_modules, as bits; kind usage for one that fits no linear layer of a block.
Result<std::uint32_t> lora_targets(std::string_view name);

// Kind usage: a rank, scale, dropout or choice of targets that no adapters can have.
Status check_lora(const LoraSpec& lora);

}  // namespace trainward::trainer

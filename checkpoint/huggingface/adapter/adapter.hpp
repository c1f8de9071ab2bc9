// A LoRA adapter's folder as PEFT keeps it: adapter_config.json and adapter_model.safetensors.
//
// In: a folder of foreign origin. Out: its settings, and its tensors, mapped (mapped_tensors.hpp),
// under the names that our checkpoints have: without "base_model.model.". Refused by name: what
// adapter_config.hpp refuses, and any tensor that is not an A or a B of a module, of two extents
// that fit the rank, with its other half. Kind usage with what to do for what is no such folder.
#pragma once

#include <filesystem>
#include <vector>

#include "checkpoint/huggingface/adapter/adapter_config.hpp"
#include "checkpoint/huggingface/model/mapped_tensors.hpp"

namespace trainward::checkpoint::huggingface {

struct Adapter {
  AdapterConfig config;
  std::vector<TensorView> tensors;  // by name; borrowed from `file`
  MappedTensors file;
};

Result<Adapter> read_adapter(const std::filesystem::path& folder);

// Every tensor is an A [r, in] or a B [out, r], of a float type, and has its other half.
Status check_adapter_tensors(const std::vector<TensorInfo>& tensors, std::int64_t r,
                             std::string_view where);

// adapter_config.json as a file: keys sorted, indented by two.
std::string adapter_config_text(const AdapterConfig& config);

}  // namespace trainward::checkpoint::huggingface

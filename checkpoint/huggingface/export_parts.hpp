// What exporting a checkpoint and merging an adapter have in common. Errors are of kind usage.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/huggingface/export.hpp"
#include "checkpoint/huggingface/writing/model_image.hpp"

namespace trainward::checkpoint::huggingface {

// A type that a model can have, a place that is free, a tokenizer's folder that is there.
Status check_options(const std::filesystem::path& folder, const ExportOptions& options);

// That of most bytes; f32 when there are no floats.
DType main_type(const std::vector<TensorView>& tensors);

// What the hub calls the model that this configuration came with; empty when it does not say.
std::string hub_name_in(const json::object& config);

// What a reader of the folder should know.
std::vector<std::string> notes_of(const ModelContents& contents);

}  // namespace trainward::checkpoint::huggingface

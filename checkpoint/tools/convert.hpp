// Copies of a model in another form: a checkpoint from what others keep, with other files, in
// another element type; or only the weights, for those who know nothing of checkpoints.
//
// In: a checkpoint folder, a .safetensors file or a folder with a Hugging Face model. Out: a new
// folder, whole or not there at all; what is there already is never replaced (kind usage). A
// checkpoint is verified before it is copied. Tensors are read portion by portion, so memory does
// not grow with the model. Blocks for as long as the disk takes.
#pragma once

#include <filesystem>
#include <optional>

#include "checkpoint/checkpoint.hpp"

namespace trainward::checkpoint {

struct ConvertOptions {
  // f32, bf16 or f16 (kind usage for another): of the model's f64, f32, f16 and bf16 tensors,
  // rounded to the nearest. Other tensors and the optimizer stay what they are.
  std::optional<DType> model_type;
  SaveOptions save;
};

// Commits a checkpoint under `root` with the source's state and optimizer, or with an empty state
// when it has none; a step that its files are marked with is kept. Returns the checkpoint's folder.
Result<std::filesystem::path> convert(const std::filesystem::path& from,
                                      const std::filesystem::path& root,
                                      const ConvertOptions& options = {});

// Only the weights: `folder` will hold model.safetensors, or shards and their index.
Status convert_to_plain_model(const std::filesystem::path& from,
                              const std::filesystem::path& folder,
                              const ConvertOptions& options = {});

}  // namespace trainward::checkpoint

// The files of a whole model's folder before they are written.
//
// In: configuration, tensors, a folder to take the tokenizer's files from, a model card. Out: every
// file; what was read from that folder is unchanged byte for byte, since a tokenizer is not ours to
// change. Tensors are borrowed. Errors: kind usage for what cannot be written.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/image.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface {

struct ModelContents {
  json::object config;                              // as it was read
  DType type = DType::f32;                          // of most tensors
  std::optional<std::filesystem::path> side_files;  // a folder; none: a model without a tokenizer
  std::vector<std::int64_t> end_tokens;
  std::string chat_template;  // in place of the folder's; empty: that is the one
  std::vector<TensorSource> tensors;
  std::string card;
};

Result<Image> model_image(const ModelContents& contents, std::uint64_t shard_bytes,
                          const std::filesystem::path& folder);

// By name, "a.2.b" before "a.10.b": what belongs together comes to lie in one shard.
void sort_in_reading_order(std::vector<TensorSource>& tensors);

}  // namespace trainward::checkpoint::huggingface

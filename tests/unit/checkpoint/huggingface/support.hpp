// Tiny models of the Llama family in folders of Hugging Face's kind, made from a seed by code that
// is not the code under test.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "checkpoint/format/tensor.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::huggingface::testing {

struct OwnedTensor {
  TensorInfo info;
  std::vector<std::byte> bytes;
};

struct Shape {
  std::int64_t vocabulary = 100;
  std::int64_t hidden = 16;
  std::int64_t inter = 40;
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 2;
  bool tied = false;
};

// As TinyLlama's config.json has it, with a key of the user's own.
json::object config_of(const Shape& shape);

// Every tensor of such a model, by name, normally distributed.
std::vector<OwnedTensor> tensors_of(const Shape& shape, DType type, std::uint64_t seed = 1);

// One file, laid out as the safetensors library does: header padded to eight bytes only.
void write_safetensors(const std::filesystem::path& file, const std::vector<OwnedTensor>& tensors,
                       const std::map<std::string, std::string>& metadata = {{"format", "pt"}});

struct FolderOptions {
  Shape shape;
  DType type = DType::bf16;
  std::size_t shards = 1;
  std::uint64_t seed = 1;
};

// config.json, weights, tokenizer files, generation_config.json.
void write_folder(const std::filesystem::path& folder, const FolderOptions& options = {});

void write_text(const std::filesystem::path& file, std::string_view text);

// The elements of a tensor of floats.
std::vector<float> floats_of(DType type, std::span<const std::byte> bytes);

}  // namespace trainward::checkpoint::huggingface::testing

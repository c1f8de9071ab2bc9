// Which files hold the tensors of a checkpoint's sections, and the index of those cut into shards,
// named as Hugging Face's tools name them:
//
//   model.safetensors
//   model-00001-of-00003.safetensors … and model.safetensors.index.json:
//     {"metadata": {"total_size": BYTES}, "weight_map": {TENSOR: FILE, …}}
//
// Pure; errors are of kind corrupt.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/format/safetensors.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint {

inline constexpr std::size_t max_shards = 1024;

// `number` counts from 1. With one shard in all: "model.safetensors".
std::string tensor_file_name(std::string_view section, std::size_t number, std::size_t shards);
std::string index_file_name(std::string_view section);

// The names of a section's tensor files, which must be among `files` and be all there are: one
// file, or all shards of an index that is there too.
struct SectionFiles {
  std::vector<std::string> tensors;
  std::string index;  // empty: one file, which needs none
};
Result<SectionFiles> section_files(std::string_view section, const std::vector<std::string>& files);

struct ShardIndex {
  std::uint64_t total_bytes = 0;                  // of all tensors
  std::map<std::string, std::string> weight_map;  // tensor to file
};

std::string encode(const ShardIndex& index);
Result<ShardIndex> parse_shard_index(std::string_view text, std::string_view where);

// What an index says must be what the shards hold: every tensor in the file it names, no other, and
// as many bytes.
struct Shard {
  std::string name;
  const Header* header = nullptr;
};
Status check_index(const ShardIndex& index, const std::vector<Shard>& shards,
                   std::string_view where);

}  // namespace trainward::checkpoint

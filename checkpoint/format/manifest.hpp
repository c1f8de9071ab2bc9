// MANIFEST.json: written last, so that a folder with a whole manifest is a whole checkpoint.
//
//   {
//     "format": "trainward-checkpoint",
//     "version": 1,
//     "step": 1234, "tokens": 5678, "loss": 2.5, "created_wall_ms": …,    (a line each)
//     "block_bytes": 16777216,
//     "files": [
//       {"name": "model.safetensors", "size": 4100, "blocks": ["<32 hex digits>"]},   (a line each)
//     ],
//     "checksum": "<XXH3-128 of every byte before this line>"
//   }
//
// The last two lines have one spelling only and the rest is covered by the checksum, so a change of
// any byte is found. Pure; errors are of kind corrupt, or permanent for a version we do not know:
// such a checkpoint is not damaged and must not be set aside.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::checkpoint {

inline constexpr std::size_t max_manifest_bytes = 16U << 20U;

struct FileEntry {
  std::string name;  // plain: no folder, no ".."
  std::uint64_t size = 0;
  std::vector<std::string> blocks;  // one checksum for every started block (block_hash.hpp)

  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

struct Manifest {
  std::int64_t step = 0;
  std::int64_t tokens = 0;
  double loss = 0;
  std::int64_t created_wall_ms = 0;
  std::vector<FileEntry> files;

  [[nodiscard]] const FileEntry* find(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> file_names() const;
  // Of all files, the manifest not included.
  [[nodiscard]] std::uint64_t file_bytes() const;
};

std::string encode(const Manifest& manifest);
Result<Manifest> parse_manifest(std::string_view text, std::string_view where);

}  // namespace trainward::checkpoint

// Writes the two layouts that torch.load reads, from a finished pickle and its storages.
//
// In: the pickle of the object, in the spelling of the layout, and the bytes of every storage that
// it refers to. Out: the file, durable (output_file.hpp). Bytes are streamed in portions of 4 MiB;
// `progress` is told of tensor bytes. The zip has its data aligned to 64 bytes, a CRC-32 for every
// entry and the 64-bit fields where a size or place needs them, laid out as PyTorch itself does.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/pytorch/archive/archive.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint::pytorch {

struct StorageBytes {
  std::string key;
  std::size_t item_bytes = 1;        // of an element of its class
  std::span<const std::byte> bytes;  // the caller's, little-endian
};

Status write_legacy(const std::filesystem::path& file, const std::string& pickle,
                    const std::vector<StorageBytes>& storages, const Progress& progress = {});
Status write_zip(const std::filesystem::path& file, const std::string& pickle,
                 const std::vector<StorageBytes>& storages, const Progress& progress = {});

// Tells `progress`, when there is one, of bytes that were handed on.
class Portions {
 public:
  Portions(const std::vector<StorageBytes>& storages, const Progress& progress);
  // Calls `take` with consecutive parts of at most 4 MiB.
  Status each(std::span<const std::byte> bytes,
              const std::function<Status(std::span<const std::byte>)>& take);

 private:
  const Progress& progress_;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
};

}  // namespace trainward::checkpoint::pytorch

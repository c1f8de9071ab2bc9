// The entries of a zip file, read strictly: every byte belongs to exactly one thing.
//
//   file  := entry* directory [zip64-end zip64-locator] end       nothing before, between or after
//   entry := local header, name, extra, data, [descriptor]
//
// The central directory decides; each local header must say the same. Stored data only. Refused,
// kind corrupt: compression, encryption, several disks, comments, gaps and overlaps, names that
// come twice or would climb out of a folder. Reads headers, never data. Sizes are in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/pytorch/pickle/byte_source.hpp"

namespace trainward::checkpoint::pytorch {

struct ZipEntry {
  std::string name;
  std::uint64_t header = 0;  // where its local header begins
  std::uint64_t data = 0;    // where its bytes begin
  std::uint64_t bytes = 0;
  std::uint32_t crc = 0;
};

// In the order of the file.
Result<std::vector<ZipEntry>> read_zip_directory(const ByteSource& source);

}  // namespace trainward::checkpoint::pytorch

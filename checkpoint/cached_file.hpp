// A tensor file that the page cache or a state slot holds, straight into the memory of its tensors:
// by several threads, a block of the manifest each, at the speed of the memory instead of the
// disk's.
//
// Every byte is compared with its checksum as it arrives. What the cache holds proves nothing about
// the disk, so this is for loading, not for verifying.
#pragma once

#include <filesystem>
#include <functional>
#include <span>

#include "checkpoint/disk/folder_io.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/safetensors.hpp"

namespace trainward::checkpoint {

// As far as a look at some places of it tells; no where the file system does not say.
bool is_cached(const OpenFile& file);

// Where a tensor's bytes go; empty: they are read and compared only. Called by one thread.
using PlaceOfTensor = std::function<Result<std::span<std::byte>>(const Slot& slot)>;

// `header_bytes`: where the data begin, as the header said when the file was opened. The header is
// read again, since only these bytes are compared. Errors (corrupt) as those of FileChecker; then
// the memory holds anything.
Status read_cached(const OpenFile& file, const FileEntry& entry, std::uint64_t header_bytes,
                   const PlaceOfTensor& place, const std::filesystem::path& where);

}  // namespace trainward::checkpoint

// Writes the files of an image into a folder that has no other writer.
//
// In: a temporary folder and what it is to hold. Out: every file written and synced, with the
// checksums of what was handed in; the folder itself is not synced yet. Progress is told of bytes
// done of `total`, which may be more than the image has. Errors: those of the disk and of the
// image's sources; what was written by then stays until the caller removes the folder.
#pragma once

#include <cstdint>
#include <vector>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/aligned_memory.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/image.hpp"
#include "common/base/error.hpp"

namespace trainward::checkpoint {

// `buffers` may be null (disk/transfer.hpp).
Result<std::vector<FileEntry>> write_image(const Temporary& folder, const Image& image,
                                           const IoOptions& io, std::uint64_t total,
                                           AlignedMemory* buffers = nullptr);

}  // namespace trainward::checkpoint

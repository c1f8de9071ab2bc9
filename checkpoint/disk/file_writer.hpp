// One file of a checkpoint on its way to the disk.
//
// In: a folder that nobody else writes into, and the bytes. Out: the file, fsynced, and its
// manifest entry, whose checksums are of what was handed in, not of what a disk gave back. After a
// failed fsync the kernel may have dropped the bytes and marked them clean, so that a second fsync
// "succeeds": such a file is deleted and written anew, once.
#pragma once

#include <filesystem>

#include "checkpoint/disk/transfer.hpp"
#include "checkpoint/format/manifest.hpp"
#include "common/error.hpp"

namespace trainward::checkpoint {

// Creates `path` (its last component, in the open folder). On error nothing of the file stays.
Result<FileEntry> write_file(int folder_fd, const std::filesystem::path& path,
                             const FileSource& source, Transfer& transfer);

}  // namespace trainward::checkpoint

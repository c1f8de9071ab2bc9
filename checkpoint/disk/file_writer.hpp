// One file of a checkpoint on its way to the disk.
//
// In: a folder that nobody else writes into, and the bytes in portions. Out: the file, fsynced, and
// its manifest entry, whose checksums are of what was handed in, not of what a disk gave back.
// After a failed fsync the kernel may have dropped the bytes and marked them clean, so that a
// second fsync "succeeds": such a file is deleted and written anew, once, from the caller's bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/manifest.hpp"
#include "common/error.hpp"
#include "common/fd.hpp"

namespace trainward::checkpoint {

class FileWriter {
 public:
  // Bytes are hashed and handed to the kernel; write-back to the disk starts as they come.
  Status write(std::string_view bytes);

 private:
  friend Result<FileEntry> write_file(int folder_fd, const std::filesystem::path& path,
                                      std::uint64_t size,
                                      const std::function<Status(FileWriter&)>& produce);
  FileWriter(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

  Fd fd_;
  std::filesystem::path path_;
  BlockHasher hasher_;
  std::uint64_t written_ = 0;
  std::uint64_t pushed_ = 0;  // up to here write-back has been started
};

// Creates `path` (its last component, in the open folder) with exactly `size` bytes from `produce`,
// which is called again if the first attempt's fsync fails. On error nothing of the file stays.
Result<FileEntry> write_file(int folder_fd, const std::filesystem::path& path, std::uint64_t size,
                             const std::function<Status(FileWriter&)>& produce);

}  // namespace trainward::checkpoint

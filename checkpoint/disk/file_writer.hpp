// One file of a checkpoint on its way to the disk: written, then made durable.
//
// In: a folder that has no other writer, and the bytes. Out: the file and its manifest entry,
// whose checksums are of what was handed in, not of what a disk gave back. Several files are
// written before the first is synced, so that the disk has something to do all the time.
//
// After a failed fsync the kernel may have dropped the bytes and marked them clean, so a
// second fsync "succeeds": such a file is deleted and rewritten, once. On error nothing of it
// stays.
#pragma once

#include <filesystem>

#include "checkpoint/disk/transfer.hpp"
#include "checkpoint/format/manifest.hpp"
#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::checkpoint {

class FileWriter {
 public:
  // `path`: its last component lies in the open folder. What is referred to must outlive it.
  FileWriter(int folder_fd, std::filesystem::path path, const FileSource& source,
             Transfer& transfer);

  Status write();
  Status make_durable();
  [[nodiscard]] const FileEntry& entry() const { return entry_; }

 private:
  Status create_and_write();

  int folder_fd_;
  std::filesystem::path path_;
  const FileSource& source_;
  Transfer& transfer_;
  Fd fd_;
  FileEntry entry_;
};

}  // namespace trainward::checkpoint

// Reads a log file as it grows, over rotations (LOG, LOG.1, LOG.2, … with the oldest last).
//
// Every byte is given once, in the order it was written: when the file is moved aside, the rest of
// the old one comes before the new one; when it is emptied in place, reading restarts. What was
// deleted before it could be read is lost. A file that is not there yet is empty.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/os/fd.hpp"

namespace trainward::daemon {

class LogTail {
 public:
  // Begins with the oldest file there is.
  explicit LogTail(std::filesystem::path path) : path_(std::move(path)) {}

  // The next bytes, at most `limit`; empty: everything was read.
  std::string read(std::size_t limit);

 private:
  [[nodiscard]] std::filesystem::path rotated(int number) const;
  [[nodiscard]] std::filesystem::path oldest() const;
  [[nodiscard]] std::filesystem::path newer() const;
  bool open(const std::filesystem::path& path);
  std::string read_here(std::size_t limit);

  std::filesystem::path path_;
  Fd fd_;
  std::uint64_t device_ = 0;
  std::uint64_t inode_ = 0;
  std::int64_t offset_ = 0;
};

}  // namespace trainward::daemon

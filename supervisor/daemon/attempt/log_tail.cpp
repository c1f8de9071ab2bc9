#include "supervisor/daemon/attempt/log_tail.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/os/file.hpp"

namespace trainward::daemon {
namespace {

constexpr int most_rotated = 1000;

}  // namespace

std::filesystem::path LogTail::rotated(int number) const {
  if (number == 0) return path_;
  return path_.string() + "." + std::to_string(number);
}

std::filesystem::path LogTail::oldest() const {
  int number = 0;
  std::error_code error;
  while (number < most_rotated && std::filesystem::exists(rotated(number + 1), error)) ++number;
  return rotated(number);
}

// The file that was begun after the one that is open; the open one itself when it is the newest.
std::filesystem::path LogTail::newer() const {
  for (int number = 0; number <= most_rotated; ++number) {
    struct stat info {};
    if (::stat(rotated(number).c_str(), &info) != 0) {
      if (number > 0) break;
      continue;  // moved aside, and the new one is not made yet
    }
    if (info.st_ino == inode_ && info.st_dev == device_)
      return rotated(number > 0 ? number - 1 : 0);
  }
  return oldest();  // ours was deleted
}

bool LogTail::open(const std::filesystem::path& path) {
  auto fd = open_regular(path, O_RDONLY);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0) return false;
  if (fd_ && info.st_ino == inode_ && info.st_dev == device_) return false;
  fd_ = std::move(*fd);
  device_ = info.st_dev;
  inode_ = info.st_ino;
  offset_ = 0;
  return true;
}

std::string LogTail::read_here(std::size_t limit) {
  struct stat info {};
  if (::fstat(fd_.get(), &info) != 0) return {};
  if (info.st_size < offset_) offset_ = 0;  // emptied in place
  std::string bytes(limit, '\0');
  const ssize_t got = ::pread(fd_.get(), bytes.data(), bytes.size(), offset_);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  offset_ += static_cast<std::int64_t>(bytes.size());
  return bytes;
}

std::string LogTail::read(std::size_t limit) {
  if (!fd_ && !open(oldest())) return {};
  for (;;) {
    std::string bytes = read_here(limit);
    if (!bytes.empty()) return bytes;
    const std::filesystem::path next = newer();
    // Once more: what was written between the look and the move is at its end now.
    bytes = read_here(limit);
    if (!bytes.empty()) return bytes;
    if (!open(next)) return {};
  }
}

}  // namespace trainward::daemon

#include "common/os/rename.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstdio>

namespace trainward {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

std::error_code rename_if_free(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  // A file system without the flag, a kernel without the call, or a filter that forbids it.
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return last_error();
  std::error_code ignored;
  if (std::filesystem::exists(std::filesystem::symlink_status(to, ignored))) {
    return std::make_error_code(std::errc::file_exists);
  }
  return ::rename(from.c_str(), to.c_str()) == 0 ? std::error_code() : last_error();
}

}  // namespace trainward

#include "common/os/rename.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdio>

namespace trainward {
namespace {

std::error_code last_error() { return {errno, std::generic_category()}; }

}  // namespace

std::error_code rename_if_free(int from_folder, const char* from, int to_folder, const char* to) {
  if (::renameat2(from_folder, from, to_folder, to, RENAME_NOREPLACE) == 0) return {};
  // A file system without the flag, a kernel without the call, or a filter that forbids it.
  if (errno != EINVAL && errno != ENOSYS && errno != EPERM) return last_error();
  struct stat there {};
  if (::fstatat(to_folder, to, &there, AT_SYMLINK_NOFOLLOW) == 0) {
    return std::make_error_code(std::errc::file_exists);
  }
  return ::renameat(from_folder, from, to_folder, to) == 0 ? std::error_code() : last_error();
}

std::error_code rename_if_free(const std::filesystem::path& from, const std::filesystem::path& to) {
  return rename_if_free(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str());
}

}  // namespace trainward

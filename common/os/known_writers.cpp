#include "common/os/known_writers.hpp"

#include <sys/stat.h>

namespace trainward {
namespace {

constexpr std::string_view no_modes =
    "on a file system without modes, mount it with the option umask=022";

}  // namespace

Status check_known_writers(const std::filesystem::path& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  struct stat info {};
  if (error || ::stat(real.c_str(), &info) != 0) return {};
  if (!S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode)) return {};
  if ((info.st_mode & S_IWOTH) != 0) {
    return fail(ErrorKind::permanent,
                "may be written by every user of this machine, who could change what runs here",
                path.string(), fmt::format("`chmod o-w {}`; {}", real.string(), no_modes));
  }
  // In a folder with the sticky bit, such as /tmp, only the owner can take a file away.
  const auto folder = real.parent_path();
  if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IWOTH) == 0 ||
      (info.st_mode & S_ISVTX) != 0) {
    return {};
  }
  return fail(ErrorKind::permanent,
              fmt::format("lies in {}, where every user of this machine could put another in its "
                          "place",
                          folder.string()),
              path.string(),
              fmt::format("`chmod o-w {0}`, or `chmod +t {0}` where others must write; {1}",
                          folder.string(), no_modes));
}

}  // namespace trainward

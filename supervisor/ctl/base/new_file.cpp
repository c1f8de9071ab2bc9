#include "supervisor/ctl/base/new_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/file.hpp"

namespace trainward::ctl {

Status write_new_file(const std::filesystem::path& path, std::string_view text, unsigned mode,
                      Existing existing) {
  const auto folder = path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
  const auto whole = folder / path.filename();
  if (existing == Existing::replace) return write_file_durably(whole, text, mode);
  auto fd = open_regular(whole, O_WRONLY | O_CREAT | O_EXCL, mode);
  if (!fd) {
    std::error_code error;
    const bool there = std::filesystem::exists(std::filesystem::symlink_status(whole, error));
    if (!there) return propagate(fd);
    return fail(ErrorKind::usage, "there is one already", path.string(), "--force replaces it");
  }
  auto written = write_all(fd->get(), text, whole);
  if (!written) ::unlink(whole.c_str());
  return written;
}

}  // namespace trainward::ctl

#include "supervisor/daemon/boards/lease.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>

#include "common/os/file.hpp"

namespace trainward::daemon {

Result<Fd> take_lease(const std::filesystem::path& file) {
  if (auto made = make_folders(file.parent_path()); !made) return propagate(made);
  auto fd = open_regular(file, O_RDWR | O_CREAT, 0640);
  if (!fd) {
    // Kinds of open_regular() for what is no file.
    const bool something_else =
        fd.error().kind == ErrorKind::usage || fd.error().kind == ErrorKind::corrupt;
    if (something_else) {
      fd.error().hint = fmt::format(
          "a lock file belongs here: `mv {0} {0}.away`, and it is created again", file.string());
    }
    return fd;
  }
  if (::flock(fd->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) {
      return fail(ErrorKind::transient, "is held by a process that still runs", file.string(),
                  "`fuser` on this file names it");
    }
    return fail_errno(errno, "lock the file", file.string());
  }
  return fd;
}

}  // namespace trainward::daemon

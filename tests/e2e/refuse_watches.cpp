// Preloaded into a program: the kernel's limits of watches are used up, as editors and nodes with
// many containers use them up. REFUSE_WATCHES: "watches" or "instances"; "deaf": watches are given
// and tell of no change.
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

bool refused(const char* what) {
  const char* wish = ::getenv("REFUSE_WATCHES");
  return wish != nullptr && std::strcmp(wish, what) == 0;
}

}  // namespace

extern "C" int inotify_add_watch(int fd, const char* path, std::uint32_t mask) noexcept {
  if (refused("watches")) {
    errno = ENOSPC;
    return -1;
  }
  if (refused("deaf")) mask = IN_DELETE_SELF | (mask & (IN_MASK_ADD | IN_ONLYDIR));
  return static_cast<int>(::syscall(SYS_inotify_add_watch, fd, path, mask));
}

extern "C" int inotify_init1(int flags) noexcept {
  if (refused("instances")) {
    errno = EMFILE;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}

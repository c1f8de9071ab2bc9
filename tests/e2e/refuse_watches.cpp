// Preloaded into a program: the kernel's limits of watches are used up, as editors and nodes with
// many containers use them up. REFUSE_WATCHES: "watches" or "instances"; until the file
// REFUSE_WATCHES_UNTIL exists, if that is set.
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace {

bool refused(const char* what) {
  const char* wish = ::getenv("REFUSE_WATCHES");
  const char* until = ::getenv("REFUSE_WATCHES_UNTIL");
  if (wish == nullptr || std::strcmp(wish, what) != 0) return false;
  return until == nullptr || ::access(until, F_OK) != 0;
}

}  // namespace

extern "C" int inotify_add_watch(int fd, const char* path, std::uint32_t mask) noexcept {
  if (refused("watches")) {
    errno = ENOSPC;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_inotify_add_watch, fd, path, mask));
}

extern "C" int inotify_init1(int flags) noexcept {
  if (refused("instances")) {
    errno = EMFILE;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_inotify_init1, flags));
}

// Loaded before libc into the programs under attack: clocks that jump, watches that are refused, a
// folder that can only be read. What is to happen stands in a file (control.hpp).
//
// A real remount to read-only is refused by the kernel while any file is open for writing; what a
// disk error does to a mounted file system (ext4's errors=remount-ro) is what this stands for.

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "control.hpp"

namespace {

using trainward::chaos::Control;

constexpr std::int64_t second_ns = 1'000'000'000;

// The real function behind the name of the one that asks.
template <typename Function>
Function real(Function /*same type*/, const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

const Control* map_control() {
  const char* file = std::getenv(trainward::chaos::control_variable);
  if (file == nullptr) return nullptr;
  const int fd = real(&::open, "open")(file, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return nullptr;
  void* memory = ::mmap(nullptr, sizeof(Control), PROT_READ, MAP_SHARED, fd, 0);
  ::close(fd);
  return memory == MAP_FAILED ? nullptr : static_cast<const Control*>(memory);
}

const Control* control() {
  static const Control* const mapped = map_control();
  return mapped;
}

void shift(timespec* time, std::int64_t by_ns) {
  const std::int64_t all = time->tv_sec * second_ns + time->tv_nsec + by_ns;
  time->tv_sec = all / second_ns;
  time->tv_nsec = all % second_ns;
}

bool refused(const char* path) {
  const Control* now = control();
  if (now == nullptr || now->read_only == 0 || path == nullptr) return false;
  return std::strncmp(path, now->folder, std::strlen(now->folder)) == 0;
}

bool refused(int fd) {
  const Control* now = control();
  if (now == nullptr || now->read_only == 0) return false;
  char link[64];
  char path[512];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = ::readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = '\0';
  return refused(path);
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

int read_only() {
  errno = EROFS;
  return -1;
}

mode_t mode_of(int flags, va_list more) {
  return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
}

}  // namespace

// NOLINTBEGIN: the names and types are libc's
#define REAL(name) real(&::name, #name)

extern "C" {

int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const int done = REAL(clock_gettime)(clock, time);
  const Control* now = control();
  if (done != 0 || now == nullptr) return done;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) shift(time, now->wall_shift_ns);
  if (clock == CLOCK_BOOTTIME) shift(time, now->boot_shift_ns);
  return done;
}

int gettimeofday(timeval* time, void* /*zone*/) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = {now.tv_sec, now.tv_nsec / 1'000};
  return 0;
}

time_t time(time_t* into) noexcept {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  if (into != nullptr) *into = now.tv_sec;
  return now.tv_sec;
}

int inotify_add_watch(int fd, const char* path, uint32_t mask) noexcept {
  const Control* now = control();
  if (now == nullptr || now->no_watches == 0) return REAL(inotify_add_watch)(fd, path, mask);
  errno = ENOSPC;
  return -1;
}

#define OPEN(name)                                          \
  int name(const char* path, int flags, ...) {              \
    if (writes(flags) && refused(path)) return read_only(); \
    va_list more;                                           \
    va_start(more, flags);                                  \
    const mode_t mode = mode_of(flags, more);               \
    va_end(more);                                           \
    return REAL(name)(path, flags, mode);                   \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                             \
  int name(int folder, const char* path, int flags, ...) {                                       \
    if (writes(flags) && (path[0] == '/' ? refused(path) : refused(folder))) return read_only(); \
    va_list more;                                                                                \
    va_start(more, flags);                                                                       \
    const mode_t mode = mode_of(flags, more);                                                    \
    va_end(more);                                                                                \
    return REAL(name)(folder, path, flags, mode);                                                \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void* bytes, size_t count) {
  return refused(fd) ? read_only() : REAL(write)(fd, bytes, count);
}
ssize_t writev(int fd, const iovec* parts, int count) {
  return refused(fd) ? read_only() : REAL(writev)(fd, parts, count);
}
ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) {
  return refused(fd) ? read_only() : REAL(pwrite)(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t at) {
  return refused(fd) ? read_only() : REAL(pwrite64)(fd, bytes, count, at);
}
int ftruncate(int fd, off_t length) noexcept {
  return refused(fd) ? read_only() : REAL(ftruncate)(fd, length);
}
int ftruncate64(int fd, off64_t length) noexcept {
  return refused(fd) ? read_only() : REAL(ftruncate64)(fd, length);
}
int fallocate(int fd, int mode, off_t at, off_t length) {
  return refused(fd) ? read_only() : REAL(fallocate)(fd, mode, at, length);
}
int fallocate64(int fd, int mode, off64_t at, off64_t length) {
  return refused(fd) ? read_only() : REAL(fallocate64)(fd, mode, at, length);
}
int rename(const char* from, const char* to) noexcept {
  return refused(from) || refused(to) ? read_only() : REAL(rename)(from, to);
}
int unlink(const char* path) noexcept { return refused(path) ? read_only() : REAL(unlink)(path); }
int mkdir(const char* path, mode_t mode) noexcept {
  return refused(path) ? read_only() : REAL(mkdir)(path, mode);
}
int bind(int fd, const sockaddr* address, socklen_t length) noexcept {
  const bool local = address != nullptr && address->sa_family == AF_UNIX;
  if (local && refused(reinterpret_cast<const sockaddr_un*>(address)->sun_path)) return read_only();
  return REAL(bind)(fd, address, length);
}

}  // extern "C"
// NOLINTEND

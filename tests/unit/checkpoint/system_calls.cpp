#include "system_calls.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdarg>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <vector>

namespace trainward::checkpoint::testing {
namespace {

Interception* active = nullptr;
std::recursive_mutex mutex;  // a save in the background makes calls beside the test's own
std::vector<int> unsynced;   // duplicates of the descriptors of files created and not yet fsynced

struct Rename {
  std::string from;
  std::string to;
  bool exchange;
};
std::vector<Rename> unsynced_renames;  // oldest first

using Lock = std::lock_guard<std::recursive_mutex>;

std::string path_of(int fd) {
  std::array<char, 4096> target{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
  return size < 0 ? std::string() : std::string(target.data(), static_cast<std::size_t>(size));
}

// True when the call must fail; errno is set then.
bool refuse(Call call, std::string path, std::string to = {}) {
  const Lock lock(mutex);
  if (active == nullptr) return false;
  const int problem = active->handler({call, std::move(path), std::move(to)});
  if (problem == 0) return false;
  errno = problem;
  return true;
}

bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

int open_at(int folder, const char* path, int flags, unsigned mode) {
  const bool creates = (flags & O_CREAT) != 0;
  if (creates && refuse(Call::create, path)) return -1;
  const auto fd = static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
  const Lock lock(mutex);
  if (creates && fd >= 0 && active != nullptr) unsynced.push_back(::dup(fd));
  return fd;
}

int rename_noted(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) {
  const auto result =
      static_cast<int>(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
  const Lock lock(mutex);
  if (result == 0 && active != nullptr) {
    unsynced_renames.push_back({from, to, (flags & RENAME_EXCHANGE) != 0});
  }
  return result;
}

// Direct I/O takes whole pages in aligned memory only.
void clear_page(int fd, off_t at) {
  alignas(4096) static std::array<char, 4096> zeros{};
  if (::pwrite(fd, zeros.data(), zeros.size(), at) < 0) errno = 0;
}

// Stands before the queue of the machine.
class InterceptedQueue : public IoQueue {
 public:
  void submit(const Request& request) override {
    Request changed = request;
    if (active != nullptr && request.operation == Operation::write) {
      const std::string path = path_of(request.fd);
      if (refuse(Call::write, path)) return refused_.push_back({request.tag, -errno});
      const Lock lock(mutex);
      if (active->shorten) changed.size = active->shorten(path, request.size);
    }
    in_flight_[request.tag] = changed;
    queue_->submit(changed);
  }

  Answer wait() override {
    if (!refused_.empty()) {
      const Answer answer = refused_.front();
      refused_.pop_front();
      return answer;
    }
    const Answer answer = queue_->wait();
    const Request request = in_flight_[answer.tag];
    in_flight_.erase(answer.tag);
    if (answer.result > 0 && request.operation == Operation::read && active != nullptr &&
        active->after_read) {
      const Lock lock(mutex);
      active->after_read(path_of(request.fd), {reinterpret_cast<char*>(request.memory),
                                               static_cast<std::size_t>(answer.result)});
    }
    return answer;
  }

 private:
  std::unique_ptr<IoQueue> queue_ = make_io_queue();
  std::map<std::uint64_t, Request> in_flight_;
  std::deque<Answer> refused_;
};

}  // namespace

SaveOptions intercepted() {
  return {0, {{}, [] { return std::make_unique<InterceptedQueue>(); }}};
}

Interception::Interception(Handler on_call, AfterRead on_read)
    : handler(std::move(on_call)), after_read(std::move(on_read)) {
  active = this;
}

Interception::~Interception() {
  active = nullptr;
  for (const int fd : unsynced) ::close(fd);
  unsynced.clear();
  unsynced_renames.clear();
}

void lose_unsynced_files() {
  for (const int fd : unsynced) {
    struct stat info {};
    // The result does not matter: the process is about to be killed.
    if (::fstat(fd, &info) == 0 && ::syscall(SYS_ftruncate, fd, info.st_size / 2) != 0) errno = 0;
  }
}

void undo_unsynced_renames() {
  const Lock lock(mutex);
  for (auto done = unsynced_renames.rbegin(); done != unsynced_renames.rend(); ++done) {
    // What a rename replaced cannot be brought back from here.
    if (std::filesystem::path(done->to).filename() == "latest") continue;
    ::syscall(SYS_renameat2, AT_FDCWD, done->to.c_str(), AT_FDCWD, done->from.c_str(),
              done->exchange ? RENAME_EXCHANGE : 0);
  }
}

void lose_what_is_not_synced(std::mt19937_64& random) {
  const Lock lock(mutex);
  for (const int fd : unsynced) {
    struct stat info {};
    if (::fstat(fd, &info) != 0 || info.st_size == 0) continue;
    const auto at = static_cast<off_t>(random() % static_cast<std::uint64_t>(info.st_size));
    switch (random() % 3) {
      case 0:
        if (::syscall(SYS_ftruncate, fd, at) != 0) errno = 0;
        break;
      case 1:
        clear_page(fd, at / 4096 * 4096);
        break;
      default:
        break;
    }
  }
  if (random() % 2 == 0) undo_unsynced_renames();
}

}  // namespace trainward::checkpoint::testing

namespace calls = trainward::checkpoint::testing;

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0U;
  va_end(arguments);
  return calls::open_at(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const unsigned mode = (flags & O_CREAT) != 0 ? va_arg(arguments, unsigned) : 0U;
  va_end(arguments);
  return calls::open_at(folder, path, flags, mode);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (calls::refuse(calls::Call::make_folder, path)) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}

int fallocate(int fd, int mode, off_t at, off_t size) {
  if (calls::refuse(calls::Call::reserve, calls::path_of(fd))) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, fd, mode, at, size));
}

ssize_t write(int fd, const void* bytes, size_t size) {
  if (calls::active != nullptr && calls::refuse(calls::Call::write, calls::path_of(fd))) return -1;
  return ::syscall(SYS_write, fd, bytes, size);
}

ssize_t pread(int fd, void* bytes, size_t size, off_t at) {
  const auto got = ::syscall(SYS_pread64, fd, bytes, size, at);
  if (got > 0 && calls::active != nullptr && calls::active->after_read) {
    const calls::Lock lock(calls::mutex);
    calls::active->after_read(calls::path_of(fd),
                              {static_cast<char*>(bytes), static_cast<std::size_t>(got)});
  }
  return got;
}

int ftruncate(int fd, off_t size) noexcept {
  if (calls::active != nullptr && calls::refuse(calls::Call::resize, calls::path_of(fd))) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, fd, size));
}

int statvfs(const char* path, struct statvfs* info) noexcept {
  struct statfs found {};
  if (::statfs(path, &found) != 0) return -1;
  *info = {};
  info->f_blocks = found.f_blocks;
  info->f_frsize = static_cast<unsigned long>(found.f_frsize);
  info->f_bavail = found.f_bavail;
  if (calls::active != nullptr && calls::active->free_bytes) {
    info->f_bavail = *calls::active->free_bytes / info->f_frsize;
  }
  return 0;
}

int fsync(int fd) {
  if (calls::active == nullptr) return static_cast<int>(::syscall(SYS_fsync, fd));
  if (calls::refuse(calls::Call::sync, calls::path_of(fd))) return -1;
  const auto result = static_cast<int>(::syscall(SYS_fsync, fd));
  const calls::Lock lock(calls::mutex);
  const std::string synced = calls::path_of(fd);
  std::erase_if(calls::unsynced_renames, [&](const calls::Rename& done) {
    return std::filesystem::path(done.to).parent_path() == synced;
  });
  const auto done = std::remove_if(calls::unsynced.begin(), calls::unsynced.end(), [&](int held) {
    if (!calls::same_file(held, fd)) return false;
    ::close(held);
    return true;
  });
  calls::unsynced.erase(done, calls::unsynced.end());
  return result;
}

int rename(const char* from, const char* to) noexcept {
  if (calls::refuse(calls::Call::rename, from, to)) return -1;
  return calls::rename_noted(AT_FDCWD, from, AT_FDCWD, to, 0);
}

int renameat2(int from_folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  const auto call = flags == 0 ? calls::Call::rename : calls::Call::exchange;
  if (calls::refuse(call, from, to)) return -1;
  return calls::rename_noted(from_folder, from, to_folder, to, flags);
}

}  // extern "C"

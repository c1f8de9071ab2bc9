#include "supervisor/daemon/file_watcher.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>

namespace trainward::daemon {

Result<std::unique_ptr<FileWatcher>> FileWatcher::make(Loop& loop) {
  Fd fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!fd) {
    return fail_errno(errno, "watch files", "inotify",
                      "raise fs.inotify.max_user_instances with sysctl");
  }
  return std::unique_ptr<FileWatcher>(new FileWatcher(loop, std::move(fd)));
}

FileWatcher::FileWatcher(Loop& loop, Fd fd)
    : fd_(std::move(fd)), watch_(loop, fd_.get(), [this] { drain(); }) {}

Result<int> FileWatcher::add(const std::filesystem::path& file, std::function<void()> changed) {
  const int id = ::inotify_add_watch(fd_.get(), file.c_str(), IN_MODIFY);
  if (id < 0) return fail_errno(errno, "watch the file", file.string());
  callbacks_[id] = std::move(changed);
  return id;
}

void FileWatcher::remove(int id) {
  if (callbacks_.erase(id) > 0) ::inotify_rm_watch(fd_.get(), id);
}

void FileWatcher::drain() {
  // Many changes of one file are one callback: the reader reads all there is anyway.
  std::set<int> changed;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      if ((event->mask & IN_Q_OVERFLOW) != 0) {
        for (const auto& [id, callback] : callbacks_) changed.insert(id);
      } else {
        changed.insert(event->wd);
      }
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  for (const int id : changed) {
    const auto found = callbacks_.find(id);
    if (found == callbacks_.end()) continue;
    const auto callback = found->second;  // it may remove itself
    callback();
  }
}

}  // namespace trainward::daemon

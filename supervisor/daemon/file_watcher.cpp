#include "supervisor/daemon/file_watcher.hpp"

#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace trainward::daemon {
namespace {

constexpr std::uint32_t file_changes = IN_MODIFY;
constexpr std::uint32_t folder_changes = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE;

}  // namespace

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
  return subscribe(file, file_changes,
                   [changed = std::move(changed)](const std::string&) { changed(); });
}

Result<int> FileWatcher::add_folder(const std::filesystem::path& folder, Callback changed) {
  return subscribe(folder, folder_changes | IN_ONLYDIR, std::move(changed));
}

Result<int> FileWatcher::subscribe(const std::filesystem::path& path, std::uint32_t mask,
                                   Callback changed) {
  // The kernel has one watch a file: what others asked for is added to, not replaced.
  const int watch = ::inotify_add_watch(fd_.get(), path.c_str(), mask | IN_MASK_ADD);
  if (watch < 0) return fail_errno(errno, "watch the file", path.string());
  subscribers_[++next_id_] = {watch, mask, std::move(changed)};
  return next_id_;
}

void FileWatcher::remove(int id) {
  const auto found = subscribers_.find(id);
  if (found == subscribers_.end()) return;
  const int watch = found->second.watch;
  subscribers_.erase(found);
  const bool others = std::any_of(subscribers_.begin(), subscribers_.end(),
                                  [&](const auto& s) { return s.second.watch == watch; });
  if (!others) ::inotify_rm_watch(fd_.get(), watch);
}

void FileWatcher::drain() {
  // Many changes of one file are one callback: the reader reads all there is anyway.
  std::set<std::pair<int, std::string>> changed;
  alignas(inotify_event) std::array<char, 16 * 1024> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd_.get(), buffer.data(), buffer.size());
    if (got <= 0) break;
    for (ssize_t at = 0; at < got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
      const bool lost = (event->mask & IN_Q_OVERFLOW) != 0;
      for (const auto& [id, subscriber] : subscribers_) {
        const bool meant = subscriber.watch == event->wd && (subscriber.mask & event->mask) != 0;
        if (lost || meant) changed.emplace(id, event->len > 0 ? event->name : "");
      }
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
  }
  for (const auto& [id, name] : changed) {
    const auto found = subscribers_.find(id);
    if (found == subscribers_.end()) continue;
    const auto callback = found->second.changed;  // it may remove itself
    callback(name);
  }
}

}  // namespace trainward::daemon

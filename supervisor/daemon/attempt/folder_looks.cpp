#include "supervisor/daemon/attempt/folder_looks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"

namespace trainward::daemon {
namespace {

// A regular file's bytes, unless it is too long or an earlier attempt's.
std::string read_small(const std::filesystem::path& path, foreign::EarlierFile& earlier) {
  auto fd = open_regular(path, O_RDONLY);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || earlier.is(info)) return {};
  std::string bytes(foreign::max_status_bytes + 1, '\0');
  const ssize_t got = ::pread(fd->get(), bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace

// ---- WatchedPaths ----

bool WatchedPaths::is_watched(const std::filesystem::path& path, Watched& found) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    paths_.erase(path);
    return true;  // as far as it can be: its folder tells when it is there
  }
  found.device = info.st_dev;
  found.inode = info.st_ino;
  const auto known = paths_.find(path);
  return known != paths_.end() && known->second.device == found.device &&
         known->second.inode == found.inode;
}

bool WatchedPaths::folder(const FileWatcher::Handle& watcher, const std::filesystem::path& path,
                          std::function<void(const FileWatcher::Names&)> changed) {
  Watched watched;
  if (is_watched(path, watched)) return false;
  auto subscription = watcher.add_folder(path, std::move(changed));
  if (!subscription) return false;
  watched.subscription = std::move(*subscription);
  paths_[path] = std::move(watched);
  return true;
}

bool WatchedPaths::file(const FileWatcher::Handle& watcher, const std::filesystem::path& path,
                        std::function<void()> changed) {
  Watched watched;
  if (is_watched(path, watched)) return false;
  auto subscription = watcher.add(path, std::move(changed));
  if (!subscription) return false;
  watched.subscription = std::move(*subscription);
  paths_[path] = std::move(watched);
  return true;
}

// ---- FolderLooks ----

FolderLooks::FolderLooks(FileWatcher::Handle watcher, foreign::WatchSpec spec,
                         foreign::Folders folders, std::int64_t launched_ns, std::int64_t kept_step,
                         Listener listener)
    : watcher_(std::move(watcher)),
      spec_(std::move(spec)),
      folders_(std::move(folders)),
      earlier_(launched_ns),
      listener_(std::move(listener)),
      status_(spec_.keys),
      checkpoints_(launched_ns, kept_step) {}

void FolderLooks::watch() {
  // What was made in a folder before it was watched is found by looking once more.
  for (bool more = true; more;) {
    more = false;
    for (const auto& folder : foreign::folders_to_watch(spec_, folders_)) {
      more = watched_.folder(watcher_, folder, listener_.entries) || more;
    }
  }
  // A writer that keeps its file open is seen only by the file itself.
  if (spec_.status_file.empty()) return;
  watched_.file(watcher_, folders_.directory / spec_.status_file, listener_.status);
}

foreign::Events FolderLooks::status() {
  watch();
  if (spec_.status_file.empty()) return {};
  return status_.read(read_small(folders_.directory / spec_.status_file, earlier_));
}

FolderLooks::Found FolderLooks::checkpoints(bool writer_gone) {
  if (spec_.checkpoints.empty()) return {};
  watch();
  auto events =
      checkpoints_.look(foreign::find_checkpoints(spec_, folders_, checkpoints_.since_ns()),
                        now().mono.ms, writer_gone);
  return {std::move(events), checkpoints_.waiting()};
}

foreign::Events FolderLooks::inside(foreign::Events checkpoints) const {
  if (checkpoints.size() > foreign::most_checkpoints_told) {
    checkpoints.erase(checkpoints.begin(),
                      checkpoints.end() - std::ptrdiff_t{foreign::most_checkpoints_told});
  }
  std::erase_if(checkpoints, [&](const core::Event& event) {
    return !foreign::lies_inside(std::get<core::CheckpointReported>(event).path, folders_);
  });
  return checkpoints;
}

}  // namespace trainward::daemon

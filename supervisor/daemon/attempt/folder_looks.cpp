#include "supervisor/daemon/attempt/folder_looks.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "supervisor/evidence/foreign/checkpoints/checkpoint_step.hpp"
#include "supervisor/evidence/foreign/checkpoints/trainer_state.hpp"

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

void WatchedPaths::keep_only(const std::set<std::filesystem::path>& paths) {
  std::erase_if(paths_, [&](const auto& watched) { return !paths.contains(watched.first); });
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

// In the newest that are folders: files may come into them long after their names were seen.
bool FolderLooks::watch_inside(const std::vector<foreign::Candidate>& candidates) {
  constexpr std::size_t most_checkpoints = 4;
  constexpr std::size_t most_folders = 64;
  std::vector<const foreign::Candidate*> newest;
  for (const foreign::Candidate& candidate : candidates) {
    if (!candidate.folders.empty()) newest.push_back(&candidate);
  }
  const std::size_t count = std::min(newest.size(), most_checkpoints);
  std::partial_sort(newest.begin(), newest.begin() + static_cast<std::ptrdiff_t>(count),
                    newest.end(),
                    [](const auto* a, const auto* b) { return a->modified_ns > b->modified_ns; });
  newest.resize(count);
  std::set<std::filesystem::path> wanted;
  for (const foreign::Candidate* candidate : newest) {
    for (const auto& folder : candidate->folders) {
      if (wanted.size() < most_folders) wanted.insert(folder);
    }
  }
  inside_.keep_only(wanted);
  bool begun = false;
  for (const auto& folder : wanted) {
    const auto changed = [listener = listener_.checkpoint](const auto&) { listener(); };
    begun = inside_.folder(watcher_, folder, changed) || begun;
  }
  return begun;
}

FolderLooks::Found FolderLooks::checkpoints(bool writer_gone) {
  if (spec_.checkpoints.empty()) return {};
  watch();
  auto found = foreign::find_checkpoints(spec_, folders_, checkpoints_.since_ns());
  // What came into a folder before it was watched is found by looking once more.
  if (!writer_gone && watch_inside(found.candidates)) {
    found = foreign::find_checkpoints(spec_, folders_, checkpoints_.since_ns());
  }
  auto settled = checkpoints_.look(found.candidates, now().mono.ms, writer_gone);
  for (foreign::Candidate& candidate : settled) {
    if (!candidate.step) candidate.step = foreign::step_inside(candidate.path);
  }
  Found out{std::move(settled), std::move(found.passed_over), {}, checkpoints_.waiting()};
  const bool reads_output = spec_.preset != "off";
  if (reads_output && !out.settled.empty() && !out.settled.back().folders.empty()) {
    auto state = foreign::read_trainer_state(out.settled.back().path);
    if (state) out.log = std::move(state->log);
  }
  return out;
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

#include "supervisor/daemon/foreign_watch.hpp"

#include <fcntl.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/file.hpp"
#include "common/launch.hpp"

namespace trainward::daemon {
namespace {

// A file that did not change for this long, and did not before, is complete.
constexpr std::int64_t settle_ms = 1'000;
// Of a log in one turn of the loop: a flood must not hold up the other programs.
constexpr std::size_t log_turn_bytes = 1 << 20;

std::int64_t modified_ns(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return 0;
  return info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec;
}

// A regular file's bytes, unless it is too long; not blocking, whatever lies there.
std::string read_small(const std::filesystem::path& path) {
  auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  struct stat info {};
  if (!fd || ::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::string bytes(foreign::max_status_bytes + 1, '\0');
  const ssize_t got = ::pread(fd->get(), bytes.data(), bytes.size(), 0);
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

}  // namespace

ForeignWatch::ForeignWatch(Loop& loop, FileWatcher& watcher, foreign::WatchSpec spec,
                           foreign::Folders folders, std::filesystem::path attempt_folder,
                           Known known, std::function<void(foreign::Events)> sink)
    : loop_(loop),
      watcher_(watcher),
      spec_(std::move(spec)),
      folders_(std::move(folders)),
      attempt_folder_(std::move(attempt_folder)),
      sink_(std::move(sink)),
      launched_ns_(modified_ns(attempt_folder_ / attempt_files::launch)),
      progress_(known.seen_step),
      earlier_(launched_ns_),
      status_(spec_.keys),
      checkpoints_(launched_ns_, known.kept_step),
      settle_(loop) {
  if (!spec_.log.empty()) {
    for (const char* name : {attempt_files::standard_output, attempt_files::standard_error}) {
      logs_.push_back({LogTail(attempt_folder_ / name), foreign::LogWatch(spec_.log, folders_)});
    }
    watch_folder(attempt_folder_);
    watch_logs();
  }
  watch_folders();
  // What happened before anybody looked; from the loop, so that the owner is ready for events.
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    read_status();
    look_for_checkpoints(false);
  });
}

ForeignWatch::~ForeignWatch() {
  *alive_ = false;
  for (const auto& [path, id] : watched_) watcher_.remove(id);
}

void ForeignWatch::finish() {
  while (!read_logs()) {
  }
  for (Log& log : logs_) tell(log.lines.end());
  read_status();
  look_for_checkpoints(true);
}

// ---- what is watched ----

void ForeignWatch::watch_folders() {
  for (const auto& folder : foreign::folders_to_watch(spec_, folders_)) watch_folder(folder);
  if (spec_.status_file.empty()) return;
  // A file that took the place of another is watched anew. A writer that keeps its file open is
  // seen only by the file itself.
  watch_file(folders_.directory / spec_.status_file, [this] { read_status(); });
}

void ForeignWatch::watch_folder(const std::filesystem::path& folder) {
  if (watched_.contains(folder)) return;
  auto id = watcher_.add_folder(
      folder, [this, folder](const std::string& name) { on_entry(folder, name); });
  if (id) {
    watched_[folder] = *id;
  } else {
    spdlog::warn("{}", id.error().message());
  }
}

void ForeignWatch::watch_file(const std::filesystem::path& file, std::function<void()> changed) {
  if (const auto old = watched_.find(file); old != watched_.end()) {
    watcher_.remove(old->second);
    watched_.erase(old);
  }
  // One that is not there is heard of by its folder.
  if (auto id = watcher_.add(file, std::move(changed))) watched_[file] = *id;
}

void ForeignWatch::watch_logs() {
  for (const char* log : {attempt_files::standard_output, attempt_files::standard_error}) {
    watch_file(attempt_folder_ / log, [this] { read_logs_soon(); });
  }
  read_logs_soon();
}

void ForeignWatch::on_entry(const std::filesystem::path& folder, const std::string& name) {
  if (folder == attempt_folder_) return watch_logs();
  const bool matters = foreign::may_matter(spec_, name);
  const bool is_status = matters || name == spec_.status_file.filename();
  if (!is_status) return;
  // A folder that was made anew is another one.
  if (const auto known = watched_.find(folder / name); !name.empty() && known != watched_.end()) {
    watcher_.remove(known->second);
    watched_.erase(known);
  }
  watch_folders();
  read_status();
  if (matters) look_for_checkpoints(false);
}

// ---- what is read ----

void ForeignWatch::read_status() {
  if (spec_.status_file.empty()) return;
  const auto path = folders_.directory / spec_.status_file;
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || earlier_.is(info)) return;
  tell(status_.read(read_small(path)));
}

bool ForeignWatch::read_logs() {
  bool all = true;
  for (Log& log : logs_) {
    const std::string bytes = log.tail.read(log_turn_bytes);
    tell(log.lines.feed(bytes));
    all = all && bytes.empty();
  }
  return all;
}

void ForeignWatch::read_logs_soon() {
  if (reading_soon_ || logs_.empty()) return;
  reading_soon_ = true;
  loop_.post([this, alive = alive_] {
    if (!*alive) return;
    reading_soon_ = false;
    if (!read_logs()) return read_logs_soon();
    progress_.caught_up();
  });
}

void ForeignWatch::look_for_checkpoints(bool writer_gone) {
  if (spec_.checkpoints.empty()) return;
  // These are news whatever step was counted last: `kept_step` says which are known.
  auto events = checkpoints_.look(foreign::find_checkpoints(spec_, folders_), writer_gone);
  if (!events.empty()) sink_(std::move(events));
  if (!checkpoints_.waiting()) return settle_.cancel();
  settle_.after(settle_ms, [this] { look_for_checkpoints(false); });
}

void ForeignWatch::tell(foreign::Events events) {
  events = progress_.news(std::move(events));
  if (!events.empty()) sink_(std::move(events));
}

}  // namespace trainward::daemon

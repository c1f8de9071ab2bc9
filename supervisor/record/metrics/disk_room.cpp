#include "supervisor/record/metrics/disk_room.hpp"

#include <sys/statvfs.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

namespace trainward::metrics {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto first_answer = std::chrono::milliseconds(20);
constexpr auto told_for = std::chrono::seconds(60);
constexpr auto stuck_after = std::chrono::seconds(5);

std::optional<std::uint64_t> room_in(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) return std::nullopt;
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

}  // namespace

struct DiskRoom::Seen {
  struct Answer {
    std::uint64_t free_bytes = 0;
    Clock::time_point at;
  };
  std::mutex mutex;
  std::condition_variable answered;
  std::map<std::string, Answer> answers;
  std::set<std::string> asked;  // and not answered
  std::optional<Clock::time_point> began;
  int look = 0;  // the newest; an older one that comes back is not the one that runs
  bool answered_once = false;

  void ask(const std::set<std::string>& paths, int mine) {
    for (const std::string& path : paths) {
      {
        const std::lock_guard lock(mutex);
        if (!asked.insert(path).second) continue;
      }
      const auto room = room_in(path);
      const std::lock_guard lock(mutex);
      asked.erase(path);
      if (room) {
        answers[path] = {*room, Clock::now()};
      } else {
        answers.erase(path);
      }
    }
    const std::lock_guard lock(mutex);
    if (mine == look) began.reset();
    answered_once = true;
    answered.notify_all();
  }
};

DiskRoom::DiskRoom() : seen_(std::make_shared<Seen>()) {}

std::vector<DiskFigures> DiskRoom::look(const std::vector<WatchedFolder>& folders) {
  std::set<std::string> paths;
  for (const WatchedFolder& folder : folders) paths.insert(folder.path.string());
  const auto now = Clock::now();
  std::unique_lock lock(seen_->mutex);
  if (!paths.empty() && (!seen_->began || now - *seen_->began > stuck_after)) {
    seen_->began = now;
    try {
      std::thread([seen = seen_, paths = std::move(paths), mine = ++seen_->look] {
        seen->ask(paths, mine);
      }).detach();
    } catch (const std::system_error&) {  // no thread available now: the next look tries again
      seen_->began.reset();
    }
    if (seen_->began && !seen_->answered_once) {
      seen_->answered.wait_for(lock, first_answer, [this] { return seen_->answered_once; });
      seen_->answered_once = true;  // nobody waits a second time
    }
  }
  std::vector<DiskFigures> figures;
  for (const WatchedFolder& folder : folders) {
    const auto found = seen_->answers.find(folder.path.string());
    if (found == seen_->answers.end() || now - found->second.at > told_for) continue;
    figures.push_back({folder.folder, folder.program, found->second.free_bytes});
  }
  return figures;
}

}  // namespace trainward::metrics

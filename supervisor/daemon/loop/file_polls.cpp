#include "supervisor/daemon/loop/file_polls.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>

namespace trainward::daemon {
namespace {

struct Stamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;
  bool folder = false;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

std::int64_t nanoseconds(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// Nothing when there is nothing.
std::optional<Stamp> look_at(const std::filesystem::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return Stamp{info.st_dev,
               info.st_ino,
               info.st_size,
               nanoseconds(info.st_mtim),
               nanoseconds(info.st_ctim),
               S_ISDIR(info.st_mode)};
}

}  // namespace

// Shared by the owner and the thread, which may outlive it.
struct FilePolls::Lane {
  struct Item {
    std::filesystem::path path;
    std::optional<Stamp> seen;
  };

  // Ends when nothing is left to look at.
  static void run(const std::shared_ptr<Lane>& lane, const Rhythm& rhythm,
                  const Listener& listener) {
    const auto period = std::chrono::milliseconds(rhythm.poll_ms);
    const auto rounds = std::max<std::int64_t>(rhythm.retry_ms / rhythm.poll_ms, 1);
    std::unique_lock lock(lane->mutex);
    for (std::int64_t round = 1;; ++round) {
      lane->wake.wait_for(lock, period, [&] { return lane->ended; });
      if (lane->ended || lane->items.empty()) break;
      auto items = lane->items;
      lock.unlock();
      std::vector<int> changed;
      for (auto& [id, item] : items) {
        if (round % rounds == 0) listener.retry(id);
        auto now = look_at(item.path);
        const bool folder = now && now->folder;
        if (folder || now != item.seen) changed.push_back(id);
        item.seen = now;
      }
      if (!changed.empty()) listener.changed(std::move(changed));
      lock.lock();
      for (auto& [id, item] : items) {
        const auto found = lane->items.find(id);
        if (found != lane->items.end()) found->second = std::move(item);
      }
    }
    lane->runs = false;
  }

  std::mutex mutex;
  std::condition_variable wake;
  std::map<int, Item> items;  // the members below as well: guarded by mutex
  bool runs = false;
  bool ended = false;
};

FilePolls::FilePolls(Rhythm rhythm, Listener listener)
    : rhythm_(rhythm), listener_(std::move(listener)) {}

FilePolls::~FilePolls() {
  for (const auto& [device, lane] : lanes_) {
    {
      const std::lock_guard lock(lane->mutex);
      lane->ended = true;
    }
    lane->wake.notify_one();
  }
}

Status FilePolls::add(int id, const std::filesystem::path& path) {
  const auto seen = look_at(path);
  if (!seen) return fail_errno(errno, "look at", path.string());
  const std::lock_guard lock(mutex_);
  device_of_[id] = seen->device;
  auto& lane = lanes_[seen->device];
  if (!lane) lane = std::make_shared<Lane>();
  const std::lock_guard items(lane->mutex);
  lane->items[id] = {path, seen};
  if (std::exchange(lane->runs, true)) return {};
  std::thread([lane, rhythm = rhythm_, listener = listener_] {
    Lane::run(lane, rhythm, listener);
  }).detach();
  return {};
}

void FilePolls::remove(int id) {
  const std::lock_guard lock(mutex_);
  const auto found = device_of_.find(id);
  if (found == device_of_.end()) return;
  Lane& lane = *lanes_.at(found->second);
  const std::lock_guard items(lane.mutex);
  lane.items.erase(id);
  device_of_.erase(found);
}

}  // namespace trainward::daemon

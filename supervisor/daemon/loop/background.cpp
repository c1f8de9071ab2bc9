#include "supervisor/daemon/loop/background.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "common/base/text.hpp"
#include "common/os/clock.hpp"

namespace trainward::daemon {
namespace {

constexpr int most_threads = 16;
constexpr std::int64_t patience_ms = 2'000;  // a job that takes longer waits for something
constexpr std::int64_t look_every_ms = 500;
constexpr auto farewell = std::chrono::milliseconds(500);

}  // namespace

// Held by the threads as well, which may outlive the daemon.
struct Background::Shared {
  struct Entry {
    Job job;
    MonoTime given;
  };
  struct Queue {
    std::deque<Entry> jobs;  // the first one runs if there is a thread
    bool has_thread = false;
    MonoTime began;  // the job that runs
  };

  mutable std::mutex mutex;
  std::condition_variable thread_ended;
  Loop* loop = nullptr;                 // null once the daemon is gone
  std::map<std::string, Queue> queues;  // none of them empty
  int threads = 0;
};

Background::Background(Loop& loop) : timer_(loop), shared_(std::make_shared<Shared>()) {
  shared_->loop = &loop;
}

Background::~Background() {
  std::unique_lock lock(shared_->mutex);
  shared_->loop = nullptr;
  for (auto& [name, queue] : shared_->queues) {
    queue.jobs.erase(queue.jobs.begin() + (queue.has_thread ? 1 : 0), queue.jobs.end());
  }
  shared_->thread_ended.wait_for(lock, farewell, [this] { return shared_->threads == 0; });
}

void Background::run(const std::string& queue, Job job) {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->queues[queue].jobs.push_back({std::move(job), now().mono});
  }
  begin_waiting();
  if (!std::exchange(looking_, true)) timer_.after(look_every_ms, [this] { look(); });
}

std::string Background::slow_text(const Running& job) {
  return fmt::format(
      "to {} has taken {} so far; if it is not for their size, the disk or the network mount does "
      "not answer",
      job.what, human_duration(job.since_ms));
}

std::optional<Background::Running> Background::running(const std::string& queue) const {
  const std::lock_guard lock(shared_->mutex);
  const auto found = shared_->queues.find(queue);
  if (found == shared_->queues.end() || !found->second.has_thread) return std::nullopt;
  return Running{found->second.jobs.front().job.what, now().mono - found->second.began};
}

// Threads for queues that have none, as far as the limit allows.
void Background::begin_waiting() {
  const std::lock_guard lock(shared_->mutex);
  const MonoTime at = now().mono;
  int at_work = 0;
  for (const auto& [name, queue] : shared_->queues) {
    if (queue.has_thread && at - queue.began < patience_ms) ++at_work;
  }
  for (auto& [name, queue] : shared_->queues) {
    if (queue.has_thread) continue;
    if (at_work++ >= most_threads) return;
    try {
      queue.began = at;
      std::thread([shared = shared_, name = name] { serve(shared, name); }).detach();
      queue.has_thread = true;
      ++shared_->threads;
    } catch (const std::system_error& error) {
      // Tried again with the next look.
      spdlog::warn("no thread for work in the background: {}", error.what());
      return;
    }
  }
}

void Background::serve(const std::shared_ptr<Shared>& shared, std::string queue) {
  std::unique_lock lock(shared->mutex);
  auto& queues = shared->queues;
  while (shared->loop != nullptr) {
    Shared::Queue& mine = queues[queue];
    mine.began = now().mono;
    auto work = std::move(mine.jobs.front().job.work);
    lock.unlock();
    Then then = work();
    work = nullptr;  // what it owns goes before its result is told
    lock.lock();
    queues[queue].jobs.pop_front();
    if (shared->loop != nullptr) shared->loop->post(std::move(then));
    if (!queues[queue].jobs.empty()) continue;
    queues.erase(queue);
    const auto next = std::find_if(queues.begin(), queues.end(),
                                   [](const auto& waiting) { return !waiting.second.has_thread; });
    if (next == queues.end()) break;
    queue = next->first;
    next->second.has_thread = true;
  }
  --shared->threads;
  shared->thread_ended.notify_all();
}

void Background::look() {
  begin_waiting();
  std::vector<std::function<void()>> late;
  {
    const std::lock_guard lock(shared_->mutex);
    const MonoTime at = now().mono;
    for (auto& [name, queue] : shared_->queues) {
      for (Shared::Entry& entry : queue.jobs) {
        if (entry.job.late && at - entry.given >= entry.job.late_ms) {
          late.push_back(std::exchange(entry.job.late, nullptr));
        }
      }
    }
    looking_ = !shared_->queues.empty();
  }
  if (looking_) timer_.after(look_every_ms, [this] { look(); });
  for (const auto& tell : late) tell();
}

}  // namespace trainward::daemon

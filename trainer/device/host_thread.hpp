// A worker thread: jobs run one after another, concurrently with the thread that submits them.
//
// Always the same thread, so parallel regions inside jobs reuse their threads.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

namespace trainward::trainer {

class HostThread {
 public:
  HostThread();
  HostThread(const HostThread&) = delete;
  HostThread& operator=(const HostThread&) = delete;
  HostThread(HostThread&&) = delete;
  HostThread& operator=(HostThread&&) = delete;
  ~HostThread();  // waits for the job that runs

  // Waits for the one before, then returns at once.
  void start(std::function<void()> job);
  void wait();
  void run(std::function<void()> job) {
    start(std::move(job));
    wait();
  }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::function<void()>> job_;  // until it has run
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace trainward::trainer

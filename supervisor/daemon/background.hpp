// One thread for work that would hold the loop up: reading and hashing checkpoints.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "supervisor/daemon/loop.hpp"

namespace trainward::daemon {

class Background {
 public:
  explicit Background(Loop& loop);
  ~Background();  // finishes the job that runs, drops the rest
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Jobs run one after the other; what `job` returns is then called on the loop.
  void run(std::function<std::function<void()>()> job);

 private:
  void work();
  Loop& loop_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<std::function<void()>()>> jobs_;  // guarded by mutex_
  bool stopping_ = false;                                    // guarded by mutex_
  std::thread thread_;
};

}  // namespace trainward::daemon

// SIGINT and SIGTERM as something to ask for, so that an operation can end in order. The second of
// them does not ask: it ends the process at once, wherever it is, also in a system call that does
// not come back.
//
// While it lives both signals are held back from this thread and those it starts; a thread of its
// own waits for them. Afterwards they do what they did before. One at a time, made before other
// threads are.
#pragma once

#include <atomic>
#include <csignal>
#include <thread>

namespace trainward::ctl {

class Interruption {
 public:
  Interruption();
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;
  ~Interruption();

  // The first of the two signals that came, or 0. Does not wait.
  [[nodiscard]] int signal() const { return seen_; }

 private:
  void watch(const sigset_t& ends);

  sigset_t before_{};
  std::atomic<int> seen_ = 0;
  std::atomic<bool> over_ = false;
  std::thread watcher_;
};

}  // namespace trainward::ctl

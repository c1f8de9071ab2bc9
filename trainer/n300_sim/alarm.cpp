#include "trainer/n300_sim/alarm.hpp"

#include <csignal>
#include <utility>

namespace trainward::n300 {

bool Alarm::has_come(Instant when) const {
  if (when <= Instant::clock::now()) return true;
  const std::lock_guard lock(mutex_);
  return stopped_;
}

void Alarm::wait(Instant when) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, when, [this] { return stopped_; });
}

void Alarm::call(Instant when, std::function<void()> what) {
  if (when > Instant::clock::now()) {
    const std::lock_guard lock(mutex_);
    if (!stopped_) {
      calls_.emplace(when, std::move(what));
      if (!thread_.joinable()) start();
      changed_.notify_all();
      return;
    }
  }
  what();
}

void Alarm::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  for (const auto& [when, what] : std::exchange(calls_, {})) what();
}

void Alarm::start() {
  // Signals are for the threads of the program that loaded the plugin.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { run(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Alarm::run() {
  std::unique_lock lock(mutex_);
  while (!stopped_) {
    if (calls_.empty()) {
      changed_.wait(lock);
    } else if (const Instant next = calls_.begin()->first; next > Instant::clock::now()) {
      changed_.wait_until(lock, next);
    } else {
      const auto due = calls_.extract(calls_.begin());
      lock.unlock();
      due.mapped()();
      lock.lock();
    }
  }
}

}  // namespace trainward::n300

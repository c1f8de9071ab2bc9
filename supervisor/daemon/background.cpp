#include "supervisor/daemon/background.hpp"

namespace trainward::daemon {

Background::Background(Loop& loop) : loop_(loop), thread_([this] { work(); }) {}

Background::~Background() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Background::run(std::function<std::function<void()>()> job) {
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back(std::move(job));
  }
  wake_.notify_one();
}

void Background::work() {
  for (;;) {
    std::unique_lock lock(mutex_);
    wake_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
    if (stopping_) return;
    auto job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    loop_.post(job());
  }
}

}  // namespace trainward::daemon

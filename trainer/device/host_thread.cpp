#include "trainer/device/host_thread.hpp"

#include <csignal>

namespace trainward::trainer {

HostThread::HostThread() {
  // Signals are for the thread that asks whether there were any.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([this] { work(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

HostThread::~HostThread() {
  wait();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void HostThread::start(std::function<void()> job) {
  wait();
  {
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
  }
  changed_.notify_all();
}

void HostThread::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !job_; });
}

void HostThread::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return job_ || ends_; });
    if (!job_) return;
    lock.unlock();
    (*job_)();
    lock.lock();
    job_.reset();
    changed_.notify_all();
  }
}

}  // namespace trainward::trainer

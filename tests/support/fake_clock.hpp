// A session's clock whose time the test tells, and whose work is done when the test says so.
#pragma once

#include <deque>
#include <functional>
#include <utility>

#include "supervisor/decide/session/ports.hpp"

namespace trainward::session {

class FakeClock final : public Clock {
 public:
  using Posts = std::deque<std::function<void()>>;
  FakeClock(Time& time, Posts& posts) : time_(time), posts_(posts) {}
  [[nodiscard]] Time now() const override { return time_; }
  void soon(std::function<void()> work) override { posts_.push_back(std::move(work)); }
  void at(MonoTime when, std::function<void()> work) override {
    due = when;
    work_ = std::move(work);
  }
  void cancel() override { work_ = nullptr; }

  // The loop, until it has nothing to do.
  void run() {
    do {
      while (!posts_.empty()) {
        const auto work = std::move(posts_.front());
        posts_.pop_front();
        work();
      }
    } while (ring());
  }
  // What is due; false: nothing is.
  bool ring() {
    if (!work_ || time_.mono < due) return false;
    std::exchange(work_, nullptr)();
    return true;
  }

  // When its work is due, or `otherwise` when that is sooner or there is none.
  [[nodiscard]] MonoTime due_or(MonoTime otherwise) const {
    return work_ && due < otherwise ? due : otherwise;
  }

  MonoTime due;

 private:
  Time& time_;
  Posts& posts_;
  std::function<void()> work_;
};

}  // namespace trainward::session

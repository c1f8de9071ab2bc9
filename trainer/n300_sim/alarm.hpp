// Tells of moments when they have come: to threads that wait, or by a callback.
//
// Its thread exists from the first callback for the future until stop(), after which every moment
// counts as come. Any thread may call, but callbacks run in the alarm's own thread, or in the
// caller's where nothing is to be waited for. A callback may call anything here but stop().
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "trainer/n300_sim/timelines.hpp"

namespace trainward::n300 {

class Alarm {
 public:
  Alarm() = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  Alarm(Alarm&&) = delete;
  Alarm& operator=(Alarm&&) = delete;
  ~Alarm() { stop(); }

  [[nodiscard]] bool has_come(Instant when) const;
  void wait(Instant when);
  void call(Instant when, std::function<void()> what);
  // Wakes those that wait, and makes the calls that are due later. Not in a callback.
  void stop();

 private:
  void start();
  void run();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::multimap<Instant, std::function<void()>> calls_;
  bool stopped_ = false;
  std::thread thread_;  // none until it is needed
};

}  // namespace trainward::n300

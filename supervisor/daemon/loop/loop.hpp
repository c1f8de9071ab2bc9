// The daemon's one event loop: timers, readable descriptors, posted work. A narrow face over
// Boost.Asio, so that its headers stay in one source file.
//
// Everything runs on the thread that calls run(), except post(), which any thread may call.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "supervisor/daemon/loop/loop_latency.hpp"

namespace boost::asio {
class io_context;
}

namespace trainward::daemon {

class Loop {
 public:
  Loop();
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  void run();  // until stop()
  void stop();
  void post(std::function<void()> work);
  boost::asio::io_context& context();  // for the HTTP server

  // As long as it lives the loop does one piece of work. Timers, watches and posted work are
  // counted by themselves; what runs on context() counts itself.
  class Busy {
   public:
    // `due`: when it should have begun.
    explicit Busy(Loop& loop,
                  std::chrono::steady_clock::time_point due = std::chrono::steady_clock::now())
        : loop_(loop), due_(due) {}
    ~Busy();
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    Loop& loop_;
    std::chrono::steady_clock::time_point due_;
  };
  // How long what happens has to wait for the loop, since it was made.
  [[nodiscard]] LoopLatency::Figures latency() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// One shot; setting it again replaces what was set. Destroying it cancels.
class Timer {
 public:
  explicit Timer(Loop& loop);
  ~Timer();
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

  void after(std::int64_t ms, std::function<void()> work);
  void cancel();

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Calls `work` whenever `fd` is readable, until destroyed (from within `work` as well). Borrows the
// descriptor: it must stay open as long as the watch lives.
class Watch {
 public:
  Watch(Loop& loop, int fd, std::function<void()> work);
  ~Watch();
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Calls `work` with the number of each of these signals that arrives; they are blocked otherwise.
class Signals {
 public:
  Signals(Loop& loop, std::initializer_list<int> numbers, std::function<void(int)> work);
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::daemon

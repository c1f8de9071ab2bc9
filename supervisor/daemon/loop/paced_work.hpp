// Work that is asked for often and done once for all who asked, off the loop: looks at folders.
//
// One at a time. After each there is a pause of at least 200 ms and of four times what it took: a
// folder that changes all the time costs five looks a second, and one that takes long to read a
// fifth of a processor. Nothing wakes up while nobody asks.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "common/base/time.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

// Runs on another thread; what it returns is called on the loop.
using BackgroundJob = std::function<std::function<void()>()>;
using InBackground = std::function<void(BackgroundJob)>;

class PacedWork {
 public:
  PacedWork(Loop& loop, InBackground in_background, BackgroundJob job);
  ~PacedWork();  // what runs goes on, and its result is dropped
  PacedWork(const PacedWork&) = delete;
  PacedWork& operator=(const PacedWork&) = delete;

  // It begins after this call; it is told of everything that happened before.
  void ask();
  // After this time, should nobody ask before.
  void ask_after(std::int64_t ms);

 private:
  void begin();

  Loop& loop_;
  InBackground in_background_;
  BackgroundJob job_;
  bool wanted_ = false;
  bool running_ = false;
  MonoTime not_before_;
  Timer pause_;
  Timer later_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace trainward::daemon

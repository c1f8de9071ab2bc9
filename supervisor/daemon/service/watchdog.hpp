// Tells the init system that the loop is well, for as long as it is, when somebody asked for it
// (WATCHDOG_USEC). Otherwise nothing is armed and nothing wakes up.
//
// "Well" means: a timer fired and work posted at that moment got its turn, so the loop turns and
// its queue drains. That is what a restart of the daemon can mend. Not part of it, on purpose:
//  - a run database that refuses to commit (full disk, lost mount): events are kept and tried
//    again, the API answers; a new daemon could not even start.
//  - a checkpoint that is verified for long, or whose file system hangs: the thread that reads it
//    may be stuck in the kernel, where a signal does not end it, and a daemon that cannot die keeps
//    its lock from the next one.
#pragma once

#include <cstdint>
#include <functional>

#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

class Watchdog {
 public:
  // `interval_ms`: after how long a silence the init system acts; 0: nobody asks. `feed` is called
  // at once, then three times an interval.
  Watchdog(Loop& loop, std::int64_t interval_ms, std::function<void()> feed);

  // What the environment asks of this process.
  static std::int64_t interval_from_environment();

 private:
  void arm();
  Loop& loop_;
  std::int64_t period_ms_;
  std::function<void()> feed_;
  Timer timer_;
};

}  // namespace trainward::daemon

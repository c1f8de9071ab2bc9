// Ends the zombies that nobody else waits for: as process 1 of a container the daemon inherits
// every orphan, and a helper that was abandoned may end after its owner.
//
// Children of ours are waited for by their owners, by pid, in the turn in which they end. So only a
// zombie that was there at an earlier look, at least a second ago, is taken: by then an owner has
// had its turn. Looks happen at the beginning, for what ended before there was a handler (while the
// daemon became its next image), and after SIGCHLD; an idle daemon does not wake up.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

class Reaper {
 public:
  explicit Reaper(Loop& loop);

 private:
  void arm();
  void look();
  Timer timer_;
  bool armed_ = false;
  std::map<pid_t, std::uint64_t> seen_;  // zombies of the last look, with their start time
  Signals children_;
};

}  // namespace trainward::daemon

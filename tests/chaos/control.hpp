// What the attack tells the preload library inside trainwardd, shim, worker and CLI: a small file
// that all of them map, named by $CHAOS_CONTROL. Zeros: everything as it is.
#pragma once

#include <atomic>
#include <cstdint>

namespace trainward::chaos {

inline constexpr const char* control_variable = "CHAOS_CONTROL";

struct Control {
  std::atomic<std::int64_t> wall_shift_ns;  // added to what the wall clock says
  std::atomic<std::int64_t> boot_shift_ns;  // added to CLOCK_BOOTTIME: time spent suspended
  std::atomic<std::int32_t> no_watches;     // inotify_add_watch() says ENOSPC
  std::atomic<std::int32_t> read_only;      // everything that writes below `folder` says EROFS
  char folder[256];                         // with a '/' at its end; set before anybody maps it
};

}  // namespace trainward::chaos

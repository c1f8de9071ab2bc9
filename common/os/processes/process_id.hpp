// Who a process is. A pid alone is reused by the kernel; pid + start time + boot id is not.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

struct ProcessId {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  // field 22 of /proc/PID/stat, clock ticks since boot
  std::string boot;               // /proc/sys/kernel/random/boot_id

  friend bool operator==(const ProcessId&, const ProcessId&) = default;
};

// Identity of a process that exists now (a zombie counts).
Result<ProcessId> identify(pid_t pid);

// A pidfd for exactly this process, or an error of kind permanent when it is gone or another
// process has its number. The descriptor becomes readable when the process ends.
Result<Fd> open_process(const ProcessId& id);

}  // namespace trainward

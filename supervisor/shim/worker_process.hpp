// Starting the worker: its own process group, output into pipes, dead when the shim dies.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/error.hpp"
#include "common/fd.hpp"
#include "common/launch.hpp"

namespace trainward::shim {

struct WorkerProcess {
  pid_t pid = 0;       // also the process group
  Fd standard_output;  // non-blocking read ends
  Fd standard_error;
};

// Forks and executes spec.argv. Succeeds only when execve() did: a command that cannot be started
// comes back as an error that names it. Call from a single-threaded process.
Result<WorkerProcess> start_worker(const LaunchSpec& spec);

}  // namespace trainward::shim

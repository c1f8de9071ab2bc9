// Starting the worker: its own process group and cgroup, output into pipes, dead when the shim
// dies.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "common/wire/launch.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"

namespace trainward::shim {

struct WorkerProcess {
  pid_t pid = 0;       // also the process group
  Fd pidfd;            // empty on kernels older than 5.2
  Fd standard_output;  // non-blocking read ends
  Fd standard_error;
};

// Starts spec.argv, inside `cgroup` from its first instruction on. Succeeds only when execve() did:
// a command that cannot be started comes back as an error that names it. Call from a
// single-threaded process, on the thread that will live longest (the parent-death signal follows
// the thread). `inherited`: descriptors, which it has under the numbers that they have here.
Result<WorkerProcess> start_worker(const LaunchSpec& spec, const containment::Cgroup& cgroup,
                                   const std::vector<int>& inherited = {});

}  // namespace trainward::shim

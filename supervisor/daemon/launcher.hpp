// From the decision to launch to a running shim.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/error.hpp"
#include "hwprobe/report.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/core/plan.hpp"
#include "supervisor/daemon/paths.hpp"

namespace trainward::daemon {

struct LaunchOrder {
  std::int64_t attempt = 0;
  std::string nonce;
  const hwprobe::Board* board = nullptr;  // none: runs without one
  std::string resume_from;
  core::Plan plan = {};
  std::int64_t resume_step = 0;
};

// Takes the leases of program and board, writes the attempt's folder, starts the shim with the
// leases in its hands. Kind transient: a lease is held, or the machine is out of something.
Result<pid_t> launch(const config::Program& program, const LaunchOrder& order, const Paths& paths);

}  // namespace trainward::daemon

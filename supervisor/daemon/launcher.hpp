// From the decision to launch to a running shim.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "common/error.hpp"
#include "hwprobe/report.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/core/plan.hpp"
#include "supervisor/daemon/oom.hpp"
#include "supervisor/daemon/paths.hpp"

namespace trainward::daemon {

struct LaunchOrder {
  std::int64_t attempt = 0;
  std::string nonce;
  const hwprobe::Board* board = nullptr;  // none: runs without one
  std::string resume_from;
  core::Plan plan = {};
  std::int64_t resume_step = 0;
  // The worker's; a daemon that protects itself must not pass its protection on.
  std::optional<int> oom_score_adj = worker_oom_score();
};

// Ends what an earlier attempt of this program left behind, takes the leases of program and board,
// writes the attempt's folder, and starts the shim with the leases in its hands. Kind transient: a
// process of an earlier attempt cannot be killed (the message names it), a lease is held, or the
// machine is out of something.
Result<pid_t> launch(const config::Program& program, const LaunchOrder& order, const Paths& paths);

}  // namespace trainward::daemon

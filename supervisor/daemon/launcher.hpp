// From the decision to launch to a running shim.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/error.hpp"
#include "hwprobe/report.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/core/plan.hpp"
#include "supervisor/daemon/boards_found.hpp"
#include "supervisor/daemon/oom.hpp"
#include "supervisor/daemon/paths.hpp"

namespace trainward::daemon {

struct LaunchOrder {
  std::int64_t attempt = 0;
  std::string nonce;
  const hwprobe::Board* board = nullptr;  // the first; none: runs without one
  std::string resume_from;
  core::Plan plan = {};
  std::int64_t resume_step = 0;
  // The worker's; a daemon that protects itself must not pass its protection on.
  std::optional<int> oom_score_adj = worker_oom_score();
  std::vector<const hwprobe::Board*> more_boards = {};  // of a program that runs on several
  std::optional<MeshPlace> place = {};                  // which chips of them, in which order
};

// Ends what an earlier attempt of this program left behind, takes the leases of program and boards
// (but for those in `leases`, which are held already), writes the attempt's folder, and starts the
// shim with the leases in its hands. Kind transient: a process of an earlier attempt cannot be
// killed (the message names it), a lease is held, or the machine is out of something.
Result<pid_t> launch(const config::Program& program, const LaunchOrder& order, const Paths& paths,
                     Leases leases = {});

// The first part of it alone: helpers that a killed shim left behind hold the board and its lease.
Status end_leftovers(const config::Program& program, const Paths& paths);

}  // namespace trainward::daemon

// From the decision to launch to a running shim.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "hwprobe/report/report.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/daemon/attempt/oom.hpp"
#include "supervisor/daemon/attempt/standby.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/daemon/boards/boards_found.hpp"
#include "supervisor/decide/core/plan.hpp"

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
  std::optional<config::Mesh> full_mesh = {};           // where `place` is a smaller one
  bool disk_only = false;  // what the attempt before left in memory is not to be used
};

// Takes the leases of program and boards (but for those that are given: held already), makes the
// attempt's folder, and starts the shim with the leases in its hands. Kind transient: a lease is
// held, or the machine is out of something; kind corrupt: there is a folder of this attempt
// already.
// `standby`: begins instead, where it is what would be started; else why not is said in `unused`.
struct Launched {
  pid_t shim = 0;
  bool from_standby = false;
  std::string unused;
};
Result<Launched> launch(const config::Program& program, const LaunchOrder& order,
                        const Paths& paths, Fd program_lease = {}, Leases leases = {},
                        Standby* standby = nullptr);

// Starts the worker of the attempt `expected`, which needs no lease for that. Other folders of
// standbys of the program are removed, but for that of the attempt `running`, by its nonce.
Result<std::unique_ptr<Standby>> start_standby(Loop& loop, const config::Program& program,
                                               const LaunchOrder& expected, const Paths& paths,
                                               const std::string& running,
                                               std::function<void()> changed);

// Before it: ends what an earlier attempt of this program left behind, as helpers of a killed shim
// hold the board and its lease. Takes up to 2 s; on any thread. Kind transient: one of them cannot
// be killed (the message names it).
// `spared`: a standby, which is no leftover.
struct Spared {
  std::string nonce;  // empty: no standby
  std::int64_t attempt = 0;
};
Status end_leftovers(const config::Program& program, const Paths& paths, const Spared& spared = {});

}  // namespace trainward::daemon

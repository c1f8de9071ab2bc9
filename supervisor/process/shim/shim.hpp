// One attempt's keeper: the worker's parent and reaper, owner of its pipes, logs, journal and exit
// status. It outlives the daemon, and needs nothing of it.
//
// Signals to the shim are its whole control protocol (the daemon sends them by pidfd), so there is
// no socket between releases to keep compatible; what crosses releases are two files, both with a
// version: launch.json and the journal.
//   SIGTERM, SIGINT  passed on to the worker's process group as the signal it wants to be asked
//                    with: save and exit. Not systemd's, which tells the worker itself. From then
//                    on the whole group is waited for, in whatever order it ends
//   SIGUSR1          passed on to the worker: save now
//   SIGUSR2          SIGKILL for the worker and everything it started
// If the shim itself is killed, the kernel kills the worker (parent-death signal). When the worker
// has ended, what it left is killed, the pipes are drained, the exit record is on the disk, and
// then the shim exits. What cannot be killed is named in the journal, and the shim stays (and with
// it the leases it inherited) until the kernel has let go of it.
#pragma once

#include <filesystem>

#include "common/base/error.hpp"

namespace trainward::shim {

// Runs the attempt in `folder` (it holds launch.json) to its end. An error means that no worker was
// started, or that the folder could not be used; it is in the journal where that was possible.
// Call on the main thread of a process that has no other.
Status run(const std::filesystem::path& folder);

// A shim whose worker is started before it is needed. `folder` holds a launch.json that is the next
// attempt's but for what only then is known; the daemon's order comes by standby.hpp. From it on
// the same as run() of the attempt's folder. Error: it was not needed, or did not get ready.
Status run_standby(const std::filesystem::path& folder);

}  // namespace trainward::shim

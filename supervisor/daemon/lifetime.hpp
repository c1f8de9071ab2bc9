// One life of the daemon, from its start to the end of its loop: what is around a Daemon in every
// surrounding it may be started in.
//
//   started by   SIGTERM, SIGINT, SIGQUIT, SIGHUP
//   systemd      asks systemd: a stop lets the workers save and end; a restart leaves them alone
//   all others   workers save and end
//
// While they do, further signals change nothing (schedulers send several), but for a second SIGINT:
// somebody who presses Ctrl-C again does not want to wait, and workers are killed. SIGUSR1 ends
// `--once` like SIGTERM, as a scheduler's warning before its limit; otherwise it and SIGUSR2 are
// only noted.
#pragma once

#include <filesystem>

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/daemon.hpp"

namespace trainward::daemon {

struct Ended {
  int code = 0;
  bool reexec = false;               // replace this process by a new start of the program
  std::filesystem::path image = {};  // that is to be started
  bool started = true;               // false: it could not start
};

// Returns when the loop has ended, or when the daemon could not start (said on stderr). The signals
// above must be blocked by the caller (block_signals) and are let through when they are handled.
Ended live(const Options& options, config::Config config);

// So that a signal is neither lost nor deadly while there is no handler: at the start, and from one
// image of this process to the next.
void block_signals(bool blocked);

// Replaces this process's image and returns only when that failed, with errno set. Sockets that
// listen, the init system's and `kept`, are handed on, and the init system is told.
void become(const std::filesystem::path& image, char** argv, const KeptSockets& kept);

}  // namespace trainward::daemon

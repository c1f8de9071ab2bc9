// The daemon is small and worth keeping: when the machine runs out of memory, the kernel should
// look elsewhere first. Its workers must not inherit that.
#pragma once

namespace trainward::daemon {

// Lowers this process's oom_score_adj to -900 when it may (root, or CAP_SYS_RESOURCE; under systemd
// OOMScoreAdjust= has done it), and returns the value that workers are to run with: what the daemon
// was started with, 0 under systemd. Survives a restart in place. Call once, before any thread.
int protect_from_oom();

// That value, later on.
int worker_oom_score();

}  // namespace trainward::daemon

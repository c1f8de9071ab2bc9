// No core file of the daemon: its memory holds variables of its environment and of programs, which
// may be secrets. What it starts gets the limit that the daemon was started with, so that a worker
// leaves one where its user wants one.
#pragma once

#include <sys/resource.h>

namespace trainward::daemon {

void leave_no_core();

// Before this process becomes another image of itself.
void restore_core_limit();

// What this process was started with; its present limit while nothing was changed.
rlimit inherited_core_limit();

}  // namespace trainward::daemon

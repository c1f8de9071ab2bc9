// Limits that the daemon sets for itself alone: what it starts gets those that the daemon was
// started with.
//
//  - Open files: a daemon of a thousand programs needs many. A program that closes all descriptors
//    up to the limit would do it for minutes with as many, and one that uses select() would break.
//  - Core files: the daemon leaves none. Its memory holds variables of its environment and of
//    programs, which may be secrets; a worker leaves one where its user wants one.
#pragma once

#include <sys/resource.h>

namespace trainward::daemon {

// Raises the soft limit of this process to its hard one, at most to 65,536. Never lowers it.
void raise_descriptor_limit();
void leave_no_core();

// Both as they were, before this process becomes another image of itself.
void restore_limits();

// What this process was started with; its present limit while nothing was changed.
rlimit inherited_descriptor_limit();
rlimit inherited_core_limit();

}  // namespace trainward::daemon

// The limit on open files. A daemon of a thousand programs needs many; what it starts gets the
// limit that the daemon was started with: a program that closes all descriptors up to the limit
// would otherwise do it for minutes, and one that uses select() would break.
#pragma once

#include <sys/resource.h>

namespace trainward::daemon {

// Raises the soft limit of this process to its hard one, at most to 65,536. Never lowers it.
void raise_descriptor_limit();

// Before this process becomes another image of itself.
void restore_descriptor_limit();

// What this process was started with; its present limit while nothing was raised.
rlimit inherited_descriptor_limit();

}  // namespace trainward::daemon

// Why the kernel gives no watch of a file, and what the operator can do about it.
#pragma once

#include <string>

namespace trainward::daemon {

// Of inotify_add_watch: the path is to blame, and not the kernel's limits.
bool is_of_the_path(int error);

// Of inotify_add_watch or inotify_init1: the limit that is used up and its value, for an event.
std::string why_polled(int error);

}  // namespace trainward::daemon

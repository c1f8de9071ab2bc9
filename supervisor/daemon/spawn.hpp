// posix_spawn with the descriptors given and no others.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "common/error.hpp"

namespace trainward::daemon {

struct SpawnFd {
  int ours = -1;
  int theirs = -1;  // the number it has in the child; may equal `ours`
};

// The child has default signal handling, an empty signal mask and this process's environment.
// argv[0] is a path or is looked up in PATH.
Result<pid_t> spawn(const std::vector<std::string>& argv, const std::vector<SpawnFd>& fds);

// A pidfd for a child of ours.
Result<int> open_child(pid_t pid);

}  // namespace trainward::daemon

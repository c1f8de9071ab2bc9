// fork and exec with the descriptors given and no others, whether or not those who opened the
// others thought of close-on-exec: a child that held the API's socket would keep it open after the
// daemon. (posix_spawn could not give the child the limit on open files that this process was
// started with.)
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"

namespace trainward::daemon {

using Environment = std::map<std::string, std::string>;

// fds[i] has the number i in the child. The child has default signal handling, an empty signal mask
// and the environment given, or else this process's; the limits of own_limits.hpp.
// argv[0] is a path or is looked up in PATH. `own_group`: it leads a process
// group, so that it can be ended with all it starts.
Result<pid_t> spawn(const std::vector<std::string>& argv, const std::vector<int>& fds,
                    const std::optional<Environment>& environment = std::nullopt,
                    bool own_group = false);

// A pidfd for a child of ours.
Result<int> open_child(pid_t pid);

}  // namespace trainward::daemon

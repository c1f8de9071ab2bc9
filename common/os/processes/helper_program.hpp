// Plain helper programs: ssh, a channel's command, programs of ours that answer and end. What needs
// more (containment, inherited locks, limits of its own) has the shim, or daemon/loop/spawn.hpp.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace trainward {

struct HelperProgram {
  std::vector<std::string> arguments;  // the first is a path, or a name that is looked up in PATH
  // Descriptors, borrowed; -1: /dev/null.
  int input = -1;
  int output = -1;
  int errors = -1;
  std::optional<std::vector<std::string>> environment = {};  // "NAME=value"; none: our own
  bool own_group = false;
};

// Started with every signal as usual and none blocked, and with no other descriptor. The caller
// waits for it. Error: errno.
tl::expected<pid_t, int> start(HelperProgram program);

}  // namespace trainward

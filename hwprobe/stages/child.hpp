// Starts the child of a stage.
//
// The child keeps no descriptor but its own end of the pipe: not the parent's output (its reader
// would wait for a child that hangs), not the lock of any board. It dies with its parent, and
// exits with a distinct code on SIGBUS. Call only from a process with one thread: the child keeps
// running our code.
#pragma once

#include <sys/types.h>

#include <string>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"
#include "hwprobe/stages/stage.hpp"

namespace trainward::hwprobe {

inline constexpr int exit_failed = 1;
inline constexpr int exit_bus_error = 77;
// A failed body reports its reason under this key, as its last line.
inline constexpr std::string_view failure_key = "stage failed";

struct Child {
  pid_t pid = 0;
  Fd output;  // non-blocking; lines of reading.hpp
};

Result<Child> start_child(const Stage& stage, const std::string& board);

}  // namespace trainward::hwprobe

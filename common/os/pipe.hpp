// A pipe whose ends close themselves, and do not outlive an exec. Errors are the kernel's.
#pragma once

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward {

struct Pipe {
  Fd read;
  Fd write;
};

Result<Pipe> make_pipe();

// Reading does not block, for use with poll(). Writing does, as its child expects.
Result<Pipe> make_polled_pipe();

}  // namespace trainward

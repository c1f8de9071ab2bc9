#include "common/os/pipe.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace trainward {

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno(errno, "make a pipe");
  return Pipe{Fd(ends[0]), Fd(ends[1])};
}

Result<Pipe> make_polled_pipe() {
  auto pipe = make_pipe();
  if (pipe && ::fcntl(pipe->read.get(), F_SETFL, O_NONBLOCK) != 0) {
    return fail_errno(errno, "set up a pipe");
  }
  return pipe;
}

}  // namespace trainward

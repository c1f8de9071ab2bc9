#include "common/os/fd.hpp"

#include <unistd.h>

namespace trainward {

void Fd::reset(int fd) {
  // close() releases the descriptor even when it reports EINTR, so it is never retried on Linux.
  if (fd_ >= 0 && fd_ != fd) ::close(fd_);
  fd_ = fd;
}

}  // namespace trainward

#include "supervisor/ctl/interruption.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace trainward::ctl {

Interruption::Interruption() {
  sigset_t ends{};
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGINT);
  ::sigaddset(&ends, SIGTERM);
  ::pthread_sigmask(SIG_BLOCK, &ends, &before_);
  fd_.reset(::signalfd(-1, &ends, SFD_NONBLOCK | SFD_CLOEXEC));
  // Without a descriptor nobody would ever see them: then they end the process as always.
  if (!fd_) ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

Interruption::~Interruption() {
  // One that came too late to matter must not end the process that has finished its work.
  (void)signal();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Interruption::signal() {
  signalfd_siginfo info{};
  while (fd_ && ::read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (seen_ == 0) seen_ = static_cast<int>(info.ssi_signo);
  }
  return seen_;
}

}  // namespace trainward::ctl

#include "supervisor/ctl/live/live_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace trainward::ctl::live {
namespace {

sigset_t ours() {
  sigset_t set{};
  ::sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH, SIGPIPE}) {
    ::sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

Result<Signals> Signals::open() {
  const sigset_t set = ours();
  sigset_t before{};
  ::pthread_sigmask(SIG_BLOCK, &set, &before);
  Fd fd(::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd) {
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return fail(ErrorKind::transient,
                fmt::format("cannot wait for signals: {}", std::strerror(error)));
  }
  return Signals(std::move(fd), before);
}

Signals::Signals(Signals&& other) noexcept : fd_(std::move(other.fd_)), before_(other.before_) {}

Signals::~Signals() {
  if (!fd_) return;
  // One that came too late to matter must not end a process that has finished its work.
  while (next() != 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int Signals::next() const {
  signalfd_siginfo info{};
  const ssize_t got = ::read(fd_.get(), &info, sizeof(info));
  return got == static_cast<ssize_t>(sizeof(info)) ? static_cast<int>(info.ssi_signo) : 0;
}

void Signals::stop_process() {
  sigset_t stop{};
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTSTP);
  ::raise(SIGTSTP);  // held back until the next line
  ::pthread_sigmask(SIG_UNBLOCK, &stop, nullptr);
  ::pthread_sigmask(SIG_BLOCK, &stop, nullptr);
}

}  // namespace trainward::ctl::live

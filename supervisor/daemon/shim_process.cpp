#include "supervisor/daemon/shim_process.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "supervisor/daemon/spawn.hpp"

namespace trainward::daemon {

Result<std::unique_ptr<ShimProcess>> ShimProcess::child(Loop& loop, pid_t pid,
                                                        std::function<void()> gone) {
  auto fd = open_child(pid);
  if (!fd) return propagate(fd);
  return std::unique_ptr<ShimProcess>(new ShimProcess(loop, Fd(*fd), pid, std::move(gone)));
}

Result<std::unique_ptr<ShimProcess>> ShimProcess::adopt(Loop& loop, const ProcessId& id,
                                                        std::function<void()> gone) {
  auto fd = open_process(id);
  if (!fd) return propagate(fd);
  return std::unique_ptr<ShimProcess>(
      new ShimProcess(loop, std::move(*fd), id.pid, std::move(gone)));
}

ShimProcess::ShimProcess(Loop& loop, Fd pidfd, pid_t pid, std::function<void()> gone)
    : pidfd_(std::move(pidfd)), pid_(pid), gone_(std::move(gone)) {
  watch_ = std::make_unique<Watch>(loop, pidfd_.get(), [this] { on_exit(); });
}

void ShimProcess::on_exit() {
  // Does nothing when another process, such as the daemon before this one, was its parent.
  ::waitpid(pid_, nullptr, WNOHANG);
  watch_.reset();
  auto gone = std::move(gone_);
  gone();  // destroys this object
}

Status ShimProcess::send(core::Signal signal) const {
  const int number = signal == core::Signal::kill ? SIGUSR2 : SIGTERM;
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0) != 0) {
    return fail_errno(errno, "signal the shim");
  }
  return {};
}

}  // namespace trainward::daemon

#include "supervisor/daemon/attempt/shim_process.hpp"

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "common/os/processes/process_files.hpp"
#include "supervisor/daemon/loop/spawn.hpp"

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

Status ShimProcess::signal(int number) const {
  if (::syscall(SYS_pidfd_send_signal, pidfd_.get(), number, nullptr, 0) != 0) {
    return fail_errno(errno, "signal the shim");
  }
  return {};
}

Status ShimProcess::send(core::Signal signal) const {
  auto sent = this->signal(signal == core::Signal::kill ? SIGUSR2 : SIGTERM);
  return sent ? this->signal(SIGCONT) : sent;
}

Status ShimProcess::end() const { return signal(SIGKILL); }

std::string ShimProcess::trouble() const {
  const auto stat = host::read_stat("/", pid_);
  if (!stat || (stat->state != 'T' && stat->state != 't')) return {};
  return fmt::format(
      "the worker's shim (process {}) is stopped by {} (state {}): nothing the worker reports "
      "arrives; `kill -CONT {}` wakes it",
      pid_, stat->state == 'T' ? "a signal" : "a debugger", stat->state, pid_);
}

}  // namespace trainward::daemon

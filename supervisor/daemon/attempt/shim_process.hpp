// A shim that runs: one this daemon started, or one an earlier daemon left behind.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "common/base/error.hpp"
#include "common/os/processes/process_id.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/decide/core/action.hpp"

namespace trainward::daemon {

class ShimProcess {
 public:
  // `gone` is called once, on the loop, when the process has ended (and was reaped if it was ours).
  static Result<std::unique_ptr<ShimProcess>> child(Loop& loop, pid_t pid,
                                                    std::function<void()> gone);
  // Kind permanent: the process is gone.
  static Result<std::unique_ptr<ShimProcess>> adopt(Loop& loop, const ProcessId& id,
                                                    std::function<void()> gone);

  // As the shim understands it; also wakes one that was stopped.
  Status send(core::Signal signal) const;
  // SIGKILL to the shim itself; the kernel then kills the worker (parent-death signal).
  Status end() const;
  [[nodiscard]] pid_t pid() const { return pid_; }
  // That it is stopped (a signal, a debugger), in words; empty: it is not.
  [[nodiscard]] std::string trouble() const;

 private:
  Status signal(int number) const;
  ShimProcess(Loop& loop, Fd pidfd, pid_t pid, std::function<void()> gone);
  void on_exit();
  Fd pidfd_;
  pid_t pid_;
  std::function<void()> gone_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace trainward::daemon

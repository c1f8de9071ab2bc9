// A shim that runs: one this daemon started, or one an earlier daemon left behind.
#pragma once

#include <sys/types.h>

#include <functional>
#include <memory>

#include "common/error.hpp"
#include "common/process_id.hpp"
#include "supervisor/core/action.hpp"
#include "supervisor/daemon/loop.hpp"

namespace trainward::daemon {

class ShimProcess {
 public:
  // `gone` is called once, on the loop, when the process has ended (and was reaped if it was ours).
  static Result<std::unique_ptr<ShimProcess>> child(Loop& loop, pid_t pid,
                                                    std::function<void()> gone);
  // Kind permanent: no such process any more.
  static Result<std::unique_ptr<ShimProcess>> adopt(Loop& loop, const ProcessId& id,
                                                    std::function<void()> gone);

  Status send(core::Signal signal) const;

 private:
  ShimProcess(Loop& loop, Fd pidfd, pid_t pid, std::function<void()> gone);
  void on_exit();
  Fd pidfd_;
  pid_t pid_;
  std::function<void()> gone_;
  std::unique_ptr<Watch> watch_;
};

}  // namespace trainward::daemon

// Signals as requests: SIGTERM and SIGINT stop the worker, SIGUSR1 saves; SIGPIPE is ignored.
//
// The handlers only set a flag, which the loop looks at between steps. A process has one set of
// signal handlers, so it can have one such object; the flags behind it live as long as the process.
#pragma once

#include "common/base/error.hpp"
#include "trainer/loop/reporting/requests.hpp"

namespace trainward::trainer {

class SignalRequests final : public Requests {
 public:
  // Installs the handlers, and lets the signals through should the parent have blocked them.
  static Status install();

  [[nodiscard]] bool stop_requested() const override;
  bool take_save_request() override;
};

}  // namespace trainward::trainer

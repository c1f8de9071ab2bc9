// Lines of the process's standard input, and Ctrl-C while a user is there.
//
// A line is handed out without its end, the last one also where that is missing; one that is longer
// than 1 MiB comes in pieces. Ctrl-C no longer asks the process to stop but is noted, and ends
// read(), as SIGTERM does. A process has one such object: the flag behind it is the process's.
#pragma once

#include <optional>
#include <string>

#include "common/base/error.hpp"
#include "trainer/loop/reporting/requests.hpp"

namespace trainward::trainer {

class LineInput {
 public:
  // After the process's own handlers have been installed (SignalRequests).
  static Status catch_interrupts();
  static bool take_interrupt();  // since the last call
  static bool is_terminal();

  // Waits for a line; none at the end, and when it is interrupted or asked to stop.
  std::optional<std::string> read(const Requests& requests);

 private:
  std::string held_;  // read, and not yet handed out
  bool ended_ = false;
};

}  // namespace trainward::trainer

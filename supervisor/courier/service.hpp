// The process between its supervisor and its jobs.
//
//   stdin   one line: the orders; then a line whenever something was committed, and "leave" when
//           the daemon is about to end (orders/left.hpp). Its end, or SIGTERM: to end soon. What
//           is under way stays as the journal has it.
//   stdout  "alive" at the start and every `beat_ms`; what has not left yet, once it was asked.
//   stderr  the log: "W text".
//
// Exit codes: 0 asked to end; 78 the orders make no sense; 75 this machine gave no journal or
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/runner.hpp"
#include "supervisor/orders/left.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::courier {

struct Trade {
  std::function<Result<std::vector<std::unique_ptr<Job>>>(const orders::Orders&)> jobs;
  std::vector<std::string> tables;
  // Once, before the jobs begin.
  std::function<Status(Journal&, const orders::Orders&)> prepare = {};
  // How far they are with it.
  std::function<Status(Journal&, std::vector<orders::Left::Job>&)> measure = {};
  Runner::Pace pace = {};
  std::int64_t beat_ms = 30'000;
};

// Jobs that never come back may be running still when this returns: end with std::_Exit().
int serve(const Trade& trade);

}  // namespace trainward::courier

// A helper program with a deadline: started, its output collected, its exit awaited on the loop.
//
// A child that ignores its deadline is killed, with what it started; one that the kernel will not
// let die is abandoned (never waited for in the foreground) and reaped whenever it ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/daemon/loop/spawn.hpp"

namespace trainward::daemon {

struct ChildResult {
  int exit_code = -1;  // -1: ended by a signal
  std::string standard_output;
  std::string standard_error;  // its last 4 KiB
};

// `done` is called exactly once, on the loop: with the result, or with an error (not started, took
// longer than `deadline_ms`, or more than 4 MiB of output). Keep the object alive until then;
// destroying it kills the child.
class ChildProcess {
 public:
  using Done = std::function<void(Result<ChildResult>)>;
  ChildProcess(Loop& loop, std::vector<std::string> argv, std::int64_t deadline_ms, Done done,
               const std::optional<Environment>& environment = std::nullopt);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace trainward::daemon

// What this package asks of systemd: a scope for a process, what is being done to a unit, to stop
// one.
//
// Root talks to the manager's own socket, which needs no message bus; everybody else goes through
// the bus and is subject to its policy. Every call is bounded by the deadline given to connect().
// Errors name what systemd answered. Not thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>

#include "common/base/error.hpp"

struct sd_bus;

namespace trainward::unit {

struct Scope {
  std::string name;         // "trainward-RUN-ATTEMPT.scope"
  std::string description;  // what `systemctl status` shows
  std::string slice;
  std::string
      stops_after;  // a unit that is stopped before this scope is, at shutdown; may be empty
  std::chrono::milliseconds stop_timeout{};  // from SIGTERM to SIGKILL
};

class Manager {
 public:
  // `user`: the manager of the calling user's session instead of the machine's.
  static Result<Manager> connect(bool user, std::chrono::milliseconds deadline);

  // Moves `process` into a new scope; returns when it is there. Kind usage: the name is taken.
  Status start_scope(const Scope& scope, pid_t process);

  // The type of the job that waits or runs for `unit` ("stop", "restart", "start", …), "none"
  // without one.
  Result<std::string> job(const std::string& unit);

  // Queues the stop and returns.
  Status stop(const std::string& unit);

 private:
  struct Close {
    void operator()(sd_bus* bus) const;
  };
  using Bus = std::unique_ptr<sd_bus, Close>;
  using Clock = std::chrono::steady_clock;
  Manager(Bus bus, Clock::time_point deadline) : bus_(std::move(bus)), deadline_(deadline) {}

  Status queue_scope(const Scope& scope, pid_t process, std::string& job);
  Bus bus_;
  Clock::time_point deadline_;
};

}  // namespace trainward::unit

// Who started this daemon, and what that asks of it.
//
// Under systemd (this process is the main process of a service): a stop and a restart both arrive
// as SIGTERM, so systemd is asked which one it is; attempts get scopes of their own; a shutdown by
// command goes through systemd. Everywhere else (terminal, container, Slurm) nothing of this
// applies. The questions are put by a child process with a deadline, so the loop never waits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "supervisor/daemon/loop/child_process.hpp"
#include "supervisor/daemon/loop/loop.hpp"

namespace trainward::daemon {

// Beyond the slowest worker's own time to save: the shim's sweep, the daemon's verdict, a slow
// disk.
inline constexpr std::int64_t stop_margin_ms = 30'000;

struct ServiceUnit {
  std::string name;           // "trainwardd.service"
  bool user_manager = false;  // of a user's systemd instead of the machine's
};

// The service whose main process this is; nothing outside of one. A daemon that was started by
// something inside a service (Slurm's, a terminal's) is not its main process.
std::optional<ServiceUnit> service_unit();

// The words to put before a shim's command line so that it runs in a transient scope of its own in
// trainward.slice, where neither the end nor a restart of the service reaches it; empty when not
// under systemd. The process keeps its pid. `programs` is the folder of trainward-unit, `stop_ms`
// what the worker is given to save after SIGTERM.
std::vector<std::string> scope_prefix(const std::filesystem::path& programs, const std::string& run,
                                      std::int64_t attempt, std::int64_t stop_ms);

// Why SIGTERM came.
enum class StopReason {
  stop,     // the service is being stopped, or the machine: workers are to save and end
  restart,  // a new daemon follows at once: workers go on
  nobody,   // systemd did not ask for it and will start the daemon again: workers go on
  // No answer. Workers go on: a stop that was meant reaches them as SIGTERM to their scope at the
  // latest when the machine goes down, while work that was stopped by mistake is lost.
  unknown,
};

class InitSystem {
 public:
  InitSystem(Loop& loop, ServiceUnit unit, std::filesystem::path programs);

  // `answer` is called once, on the loop.
  void why_stopped(std::function<void(StopReason)> answer);
  // Asks systemd to stop this service, so that nothing starts it again. `failed` is called when
  // that cannot be done.
  void stop_service(std::function<void()> failed);
  // Tries a scope once and logs the reason if attempts will do without.
  void try_scope();

 private:
  std::vector<std::string> helper(std::vector<std::string> words) const;
  Loop& loop_;
  ServiceUnit unit_;
  std::filesystem::path programs_;
  std::unique_ptr<ChildProcess> question_;
  std::unique_ptr<ChildProcess> stop_;
  std::unique_ptr<ChildProcess> trial_;
};

}  // namespace trainward::daemon

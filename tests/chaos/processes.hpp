// Every process that came from the attack, as /proc shows it. The attack is the subreaper of all of
// them, so none can get out of sight.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::chaos {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  char state = '?';     // R, S, D, T, Z …
  std::string name;     // trainwardd, trainward-shim, chaos-worker, chaos-helper, trainwardctl …
  std::string program;  // of shims, workers and helpers: TRAINWARD_RUN; empty: not known
};

namespace names {
inline constexpr std::string_view daemon = "trainwardd";
inline constexpr std::string_view shim = "trainward-shim";
inline constexpr std::string_view worker = "chaos-worker";
inline constexpr std::string_view helper = "chaos-helper";
}  // namespace names

// All descendants of this process, by pid.
std::vector<Process> descendants();
std::vector<Process> named(const std::vector<Process>& all, std::string_view name);
// Workers, without what one of them has just forked: a helper has its worker's name until it has
// given itself another, which takes long when it is stopped before.
std::vector<Process> workers(const std::vector<Process>& all);

// Of /proc/PID/status, in KiB ("VmRSS", "VmSize"); 0 when it is gone.
std::int64_t memory_kib(pid_t pid, std::string_view key);
std::int64_t open_descriptors(pid_t pid);  // 0 when it is gone
// For how long its first thread was ready to run and other work had the processors; 0: not told.
std::int64_t kept_waiting_ms(pid_t pid);

}  // namespace trainward::chaos

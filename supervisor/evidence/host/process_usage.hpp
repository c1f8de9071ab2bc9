// What a worker's processes have used: processor time, as a sign of life, and memory, to see a leak
// coming.
//
// Two ways to ask. A cgroup that belongs to the worker alone is exact, also for helpers that are
// gone. Without one, the tree below the root process is walked (at most 4096 processes); then the
// time of a helper that ended counts through its parent, and memory that processes share
// counts once for each of them. Give the shim as root and not the worker: it adopts and waits for
// the orphans. The walk never blocks, but costs about 0.1 ms a process.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>

#include "common/os/processes/cgroup.hpp"

namespace trainward::host {

struct Usage {
  std::int64_t cpu_ms = 0;
  // What only the worker can give back: anonymous and shared memory, also where it is swapped out.
  // Not the page cache: a worker that reads a large corpus or writes checkpoints fills all memory
  // it may have with it, which is no leak.
  std::int64_t memory_bytes = 0;
  std::int64_t processes = 0;
  std::int64_t written_bytes = 0;  // by those that live; of a tree only
  friend bool operator==(const Usage&, const Usage&) = default;
};

// As it is this instant; nothing when the process is gone.
std::optional<Usage> usage_of_tree(const std::filesystem::path& root, pid_t pid);
// Nothing when the cgroup is gone or counts neither.
std::optional<Usage> usage_of_cgroup(const std::filesystem::path& root, const Cgroups& own);

// Follows one worker. Not thread-safe; opens nothing between calls.
class UsageMeter {
 public:
  // `own`: only when nobody else is in these cgroups.
  UsageMeter(std::filesystem::path root, pid_t pid, std::optional<Cgroups> own = {});

  // Nothing when the process is gone or another has its number. cpu_ms never falls, even when a
  // helper ends that nobody waited for: what it had used is kept.
  std::optional<Usage> read();

 private:
  std::filesystem::path root_;
  pid_t pid_;
  std::optional<Cgroups> own_;
  std::int64_t start_ticks_ = -1;  // -1: there was no such process
  std::int64_t last_ms_ = 0;       // as read
  std::int64_t lost_ms_ = 0;       // of helpers that ended unseen
};

}  // namespace trainward::host

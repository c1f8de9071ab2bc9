// By what a line of the kernel's log can be known to be about one worker: its processes and
// threads, its cgroup, its boards. Turns facts about the machine into evidence about the worker.
//
// A process that the kernel killed is gone when its line is read, so processes are remembered from
// earlier looks. Numbers in the kernel's log are those of the first pid namespace: in a container
// with its own they name other processes, and are not compared.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "common/base/time.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/evidence/host/kernel_fact.hpp"
#include "supervisor/evidence/host/storm_limit.hpp"

namespace trainward::host {

class WorkerTraces {
 public:
  // `own_cgroup`: as the kernel calls it (Cgroup::name); only when nobody else is in it, else
  // empty. `bus_ids`: of the boards it was given (with_ports_above); empty: it has none.
  WorkerTraces(std::filesystem::path root, std::string own_cgroup,
               std::vector<std::string> bus_ids);

  // Remembers the processes and threads that are below `pid` now (at most 16384 in all). Call it at
  // the start and whenever the worker is looked at anyway.
  void look(pid_t pid);

  // For the core; nothing when it concerns somebody else, or when too many of the kind came (three
  // at once, then one in ten minutes; the next says how many were held back).
  std::optional<core::HostFact> weigh(const KernelFact& fact, Time now);

 private:
  [[nodiscard]] int weight_of(const KernelFact& fact) const;
  [[nodiscard]] bool has_process(pid_t pid) const;
  [[nodiscard]] bool has_cgroup(const std::string& name) const;

  std::filesystem::path root_;
  std::string own_cgroup_;
  std::vector<std::string> bus_ids_;
  bool same_numbers_ = false;
  std::unordered_set<pid_t> processes_;  // and threads
  StormLimit limit_;
};

}  // namespace trainward::host

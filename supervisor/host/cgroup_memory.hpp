// How often the kernel killed something in a worker's cgroup for want of memory.
//
// Version 2: memory.events, which counts the cgroups below as well and announces changes. Version
// 1: memory.oom_control, which is announced through cgroup.event_control and counts only since
// Linux 4.13. The count is since the cgroup was made: take the difference over an attempt.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "common/fd.hpp"
#include "supervisor/host/cgroup.hpp"
#include "supervisor/host/priority_poll.hpp"

namespace trainward::host {

// The number in the text of either file; nothing when it has none.
std::optional<std::int64_t> parse_oom_kills(std::string_view text);

// In the cgroup of this worker; nothing when it is in none that counts.
std::optional<std::int64_t> oom_kills_of(const Cgroups& cgroups);

// Not thread-safe.
class OomWatch {
 public:
  explicit OomWatch(const Cgroups& cgroups);

  // Readable after something happened: call take() then. -1 where the kernel does not announce it:
  // ask take() when the worker ends.
  [[nodiscard]] int fd() const;

  // Kills since the last call, or since the watch began. Version 1 announces before it kills, so
  // this may still be 0 then: ask again when the worker has ended.
  std::int64_t take();

 private:
  void rearm() const;
  Cgroups cgroups_;
  Fd events_;                         // version 2: memory.events; version 1: memory.oom_control
  std::optional<PriorityPoll> poll_;  // version 2
  Fd bell_;                           // version 1: an eventfd the kernel rings
  std::int64_t seen_ = 0;
};

}  // namespace trainward::host

// Memory pressure (PSI): how much of the time programs stood still for want of memory.
//
// The kernel wakes the loop when it is bad (half a second of any two); an idle machine costs
// nothing. Reading: always, where the kernel has PSI (4.20, and not switched off). Waking: where
// the file may be written, which before Linux 6.x takes CAP_SYS_RESOURCE.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/base/time.hpp"
#include "common/os/fd.hpp"
#include "common/os/processes/cgroup.hpp"
#include "supervisor/decide/core/event.hpp"
#include "supervisor/evidence/host/priority_poll.hpp"
#include "supervisor/evidence/host/storm_limit.hpp"

namespace trainward::host {

// Percent of the time, over the last 10 and 60 seconds.
struct Pressure {
  double some_10 = 0;  // at least one program waited
  double some_60 = 0;
  double full_10 = 0;  // all of them did: nothing moved
  double full_60 = 0;
  friend bool operator==(const Pressure&, const Pressure&) = default;
};

// Nothing when it is not the text of such a file; numbers are held within 0 and 100.
std::optional<Pressure> parse_pressure(std::string_view text);

// The file of the worker's cgroup where it has one of its own (version 2), else the machine's.
std::filesystem::path pressure_file(const std::filesystem::path& root, const Cgroups& cgroups);

// "programs waited for memory 23% of the last 10 s (60 s: 12%); nothing moved 8% (60 s: 3%)"
std::string in_words(const Pressure& pressure);

// Wakes when memory is short. Not thread-safe.
class PressureWatch {
 public:
  // An error (with what to do about it) where the kernel has no PSI or does not let us be woken.
  static Result<PressureWatch> open(const std::filesystem::path& file);

  // Readable when memory is short: call take() then.
  [[nodiscard]] int fd() const { return poll_.fd(); }

  // What to tell the core, at most once in five minutes: evidence of weight 30 for host_oom.
  std::optional<core::HostFact> take(Time now);

 private:
  PressureWatch(Fd trigger, PriorityPoll poll);
  Fd trigger_;  // the trigger lives as long as this is open
  PriorityPoll poll_;
  StormLimit limit_;
};

}  // namespace trainward::host

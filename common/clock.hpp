// The two clocks, read in one place.
//
// Wall time stamps what people read; it may jump. Monotonic time (CLOCK_BOOTTIME: it goes on during
// suspend and across restarts of our processes, not of the machine) measures durations and
// deadlines. Decisions take a Time as a parameter and never read a clock.
#pragma once

#include <cstdint>
#include <string>

namespace trainward {

struct Time {
  std::int64_t wall_ms = 0;  // since 1970-01-01T00:00:00Z
  std::int64_t mono_ms = 0;  // since boot

  friend bool operator==(const Time&, const Time&) = default;
};

Time now();

// "2026-11-20T21:41:07.123Z"
std::string iso8601(std::int64_t wall_ms);

// /proc/sys/kernel/random/boot_id; empty when it cannot be read.
std::string boot_id();

}  // namespace trainward

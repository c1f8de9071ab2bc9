// Times as values. Wall time stamps what people read; it may jump. Monotonic time measures
// durations and deadlines. Decisions take a Time as a parameter and never read a clock
// (common/os/clock.hpp).
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <string>

namespace trainward {

struct Time {
  std::int64_t wall_ms = 0;  // since 1970-01-01T00:00:00Z
  std::int64_t mono_ms = 0;  // since boot

  friend bool operator==(const Time&, const Time&) = default;
};
BOOST_DESCRIBE_STRUCT(Time, (), (wall_ms, mono_ms))

// "2026-11-20T21:41:07.123Z"
std::string iso8601(std::int64_t wall_ms);

}  // namespace trainward

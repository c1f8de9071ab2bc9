// Times as values. Wall time stamps what people read; it may jump. Monotonic time measures
// durations and deadlines. Decisions take a Time as a parameter and never read a clock
// (common/os/clock.hpp).
#pragma once

#include <compare>
#include <cstdint>
#include <string>

namespace trainward {

// When something is, by one clock. The clocks do not mix: a wall time is neither compared with a
// monotonic one nor taken from it. What lies between two instants is a number of milliseconds.
template <typename Clock>
struct Instant {
  std::int64_t ms = 0;

  friend constexpr auto operator<=>(const Instant&, const Instant&) = default;  // NOLINT
  friend constexpr std::int64_t operator-(Instant late, Instant early) {
    return late.ms - early.ms;
  }
  friend constexpr Instant operator+(Instant at, std::int64_t ms) { return {at.ms + ms}; }
  friend constexpr Instant operator-(Instant at, std::int64_t ms) { return {at.ms - ms}; }
  constexpr Instant& operator+=(std::int64_t more_ms) { return *this = *this + more_ms; }
  constexpr Instant& operator-=(std::int64_t less_ms) { return *this = *this - less_ms; }
};
using WallTime = Instant<struct WallClock>;  // since 1970-01-01T00:00:00Z
using MonoTime = Instant<struct MonoClock>;  // since boot

// Both clocks at one moment.
struct Time {
  WallTime wall;
  MonoTime mono;

  friend bool operator==(const Time&, const Time&) = default;
};

// "2026-11-20T21:41:07.123Z"
std::string iso8601(std::int64_t wall_ms);
inline std::string iso8601(WallTime at) { return iso8601(at.ms); }

}  // namespace trainward

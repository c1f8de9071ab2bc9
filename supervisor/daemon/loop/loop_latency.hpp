// How long an event has to wait for the daemon, at worst: the metric of a loop that must not block.
//
// One sample for each piece of work the loop does: how late it began (a timer after its time,
// posted work after its post) and how long it took, for that long nothing else had its turn. Pure:
// the caller brings the time. Of the last minute the worst, of the whole life the worst and a
// percentile, whose error is below a fifth.
#pragma once

#include <array>
#include <cstdint>

namespace trainward::daemon {

class LoopLatency {
 public:
  // `at_ms` never goes back.
  void note(std::int64_t at_ms, std::int64_t microseconds);

  struct Figures {
    std::int64_t samples = 0;
    double last_minute_max_ms = 0;
    double p50_ms = 0;
    double p99_ms = 0;
    double max_ms = 0;
  };
  [[nodiscard]] Figures figures(std::int64_t now_ms) const;

 private:
  static constexpr std::int64_t slot_ms = 5'000;
  struct Slot {
    std::int64_t number = -1;  // of five seconds, from the clock's beginning
    std::int64_t most_us = 0;
  };
  [[nodiscard]] double percentile_ms(double share) const;

  std::array<Slot, 12> minute_{};
  std::array<std::int64_t, 128> counts_{};  // four to each power of two
  std::int64_t samples_ = 0;
  std::int64_t most_us_ = 0;
};

}  // namespace trainward::daemon

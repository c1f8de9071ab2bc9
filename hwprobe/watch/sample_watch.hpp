// What the samples of one board, one after the other, say against it.
//
// In: samples in the order they were taken, and the monotonic time of each. Out: findings, in words
// with the numbers they come from. A condition is told when it begins, again every ten minutes
// while it lasts, and when it is over; never twice for the same. What a board does not publish is
// never held against it. Pure: no clock, no I/O.
//
//   gone        the kernel no longer knows the board
//   frozen      its heartbeat has stood still over three samples and five seconds
//   fatal       AER counters of lost transfers or a lost link have grown
//   hot         at or above the limit it names itself, 75 °C where it names none
//   throttling  at that heat (or within 5 °C), or at its power limit, for two samples its clock was
//               5 % or more below what it has run at
//   link        the AER counter of errors that the link put right has grown
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hwprobe/watch/sample.hpp"

namespace trainward::hwprobe {

enum class Sign { gone, frozen, fatal, hot, throttling, link };

struct SampleFinding {
  Sign sign = Sign::hot;
  bool over = false;  // it was, and no longer is
  std::string text;
};

class SampleWatch {
 public:
  std::vector<SampleFinding> take(const Sample& sample, std::int64_t now_mono_ms);

 private:
  struct Condition {
    bool holds = false;
    std::int64_t since_mono_ms = 0;
    std::int64_t told_mono_ms = 0;
  };
  // An AER counter: its last value, and how much of its growth has not been reported.
  struct Counter {
    std::optional<std::int64_t> last;
    std::int64_t untold = 0;
    std::int64_t told_mono_ms = 0;
    bool told = false;
  };

  void set(Sign sign, bool holds, std::string text, std::string over, std::int64_t now_mono_ms,
           std::vector<SampleFinding>& out);
  void count(Counter& counter, Sign sign, std::optional<std::int64_t> value, std::string_view what,
             std::int64_t now_mono_ms, std::vector<SampleFinding>& out);
  void watch_heat(const Sample& sample, std::int64_t now_mono_ms, std::vector<SampleFinding>& out);
  void watch_clock(const Sample& sample, std::int64_t now_mono_ms, std::vector<SampleFinding>& out);
  void watch_heartbeat(const Sample& sample, std::int64_t now_mono_ms,
                       std::vector<SampleFinding>& out);

  std::array<Condition, 6> conditions_;
  std::array<Counter, 3> counters_;
  std::optional<std::int64_t> beat_;
  std::int64_t beat_mono_ms_ = 0;  // when it was first seen at this value
  int same_beats_ = 0;
  std::int64_t highest_clock_ = 0;
  int slow_samples_ = 0;
};

}  // namespace trainward::hwprobe

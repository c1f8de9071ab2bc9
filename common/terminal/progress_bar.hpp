// A line that shows how far a long operation is.
//
// In: bytes done and to do, and the time, which is a parameter. Out: the text to write to the
// terminal, which draws over the line before. Nothing is shown in the first second: what is over by
// then needs no bar. Pure; no colours.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace trainward {

struct Measure {
  std::string_view label;  // what is being done
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double rate = 0;  // bytes a second; 0: not known yet
};

// "verifying  [=====>      ]  43 %  1.23 of 2.87 GiB  412 MiB/s  0:04 left", at most `width`
// columns: what is less important goes first when there is no room.
std::string progress_line(const Measure& measure, std::size_t width);

class ProgressBar {
 public:
  using Time = std::chrono::steady_clock::time_point;
  explicit ProgressBar(std::string label, Time start);

  // What to write now; nothing when it is too early or the last drawing is fresh.
  std::optional<std::string> update(Time now, std::uint64_t done, std::uint64_t total,
                                    std::size_t width);
  // Clears the line; empty if no line is shown.
  [[nodiscard]] std::string clear();

 private:
  void measure_rate(Time now, std::uint64_t done);

  std::string label_;
  Time start_;
  std::optional<Time> drawn_;
  Time measured_;
  std::uint64_t measured_done_ = 0;
  double rate_ = 0;
};

}  // namespace trainward

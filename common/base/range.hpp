// Which numbers a setting takes, and how to tell a person.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string>

namespace trainward {

struct IntegerRange {
  std::int64_t min = 0;
  std::int64_t max = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] constexpr bool contains(std::int64_t value) const {
    return value >= min && value <= max;
  }
  // "a whole number from 1 to 10"
  [[nodiscard]] std::string text() const {
    return fmt::format("a whole number from {} to {}", min, max);
  }
};

struct NumberRange {
  double min = 0;
  double max = std::numeric_limits<double>::max();
  bool above_min = false;  // min itself is excluded
  bool below_max = false;  // max itself is excluded

  // Not-a-number is in no range.
  [[nodiscard]] constexpr bool contains(double value) const {
    return (above_min ? value > min : value >= min) && (below_max ? value < max : value <= max);
  }
  // "a number above 0 to 10", "a number from 0 to below 1"
  [[nodiscard]] std::string text() const {
    std::string low = fmt::format("a number {} {}", above_min ? "above" : "from", min);
    if (max == std::numeric_limits<double>::max()) return low;
    return fmt::format("{} {} {}", low, below_max ? "to below" : "to", max);
  }
};

}  // namespace trainward

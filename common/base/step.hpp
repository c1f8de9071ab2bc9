// The number of a training step, from 1. What lies between two of them is a count of steps.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <cstdint>

namespace trainward {

struct Step {
  std::int64_t number = 0;  // 0: none

  friend constexpr auto operator<=>(const Step&, const Step&) = default;  // NOLINT
  friend constexpr std::int64_t operator-(Step late, Step early) {
    return late.number - early.number;
  }
  friend constexpr Step operator+(Step step, std::int64_t steps) { return {step.number + steps}; }
  friend constexpr Step operator-(Step step, std::int64_t steps) { return {step.number - steps}; }
  constexpr explicit operator bool() const { return number > 0; }
};

}  // namespace trainward

template <>
struct fmt::formatter<trainward::Step> : fmt::formatter<std::int64_t> {
  template <typename Context>
  auto format(trainward::Step step, Context& context) const {
    return fmt::formatter<std::int64_t>::format(step.number, context);
  }
};

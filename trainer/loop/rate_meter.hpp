// Tokens per second over the last steps.
//
// Only time inside steps counts, so saving does not look like a slow device. Sixteen steps, because
// the clock ticks in milliseconds and a small model's step is a few of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace trainward::trainer {

class RateMeter {
 public:
  void add(std::int64_t tokens, std::int64_t ms) { steps_[next_++ % steps_.size()] = {tokens, ms}; }
  [[nodiscard]] double tokens_per_second() const {
    std::int64_t tokens = 0;
    std::int64_t ms = 0;
    for (const Step& step : steps_) {
      tokens += step.tokens;
      ms += step.ms;
    }
    return static_cast<double>(tokens) * 1000.0 / static_cast<double>(ms > 0 ? ms : 1);
  }

 private:
  struct Step {
    std::int64_t tokens = 0;
    std::int64_t ms = 0;
  };
  std::array<Step, 16> steps_{};
  std::size_t next_ = 0;
};

}  // namespace trainward::trainer

// When a wait is over that was asked for by the wall clock, which may be set meanwhile: at that
// time, or after as long as it was then. A clock that is set back makes nobody wait for longer.
// Pure.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/time.hpp"

namespace trainward::courier {

class Deadline {
 public:
  Deadline(std::int64_t wall_ms, Time now)
      : wall_ms_(wall_ms),
        mono_ms_(now.mono.ms + std::clamp<std::int64_t>(wall_ms - now.wall.ms, 0, longest_ms)) {}

  // 0 or less: it is over.
  [[nodiscard]] std::int64_t left_ms(Time now) const {
    return std::min(wall_ms_ - now.wall.ms, mono_ms_ - now.mono.ms);
  }

 private:
  static constexpr std::int64_t longest_ms = std::int64_t{366} * 86'400'000;
  std::int64_t wall_ms_;
  std::int64_t mono_ms_;
};

}  // namespace trainward::courier

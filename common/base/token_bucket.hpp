// Up to so many at once, and so many a second after that.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/base/time.hpp"

namespace trainward {

class TokenBucket {
 public:
  TokenBucket(double most, double per_second)
      : most_(most), per_ms_(per_second / 1000), level_(most) {}

  void refill(MonoTime at) {
    const std::int64_t passed = at_ == MonoTime{} ? 0 : std::max<std::int64_t>(at - at_, 0);
    level_ = std::min(most_, level_ + per_ms_ * static_cast<double>(passed));
    at_ = std::max(at_, at);
  }
  [[nodiscard]] bool above(double level) const { return level_ > level; }
  // One more; sums of fractions fall a little short.
  [[nodiscard]] bool has_one() const { return above(0.999); }
  // Not below `lowest`, unless it is already.
  void take(double amount, double lowest) {
    level_ = std::max(std::min(level_, lowest), level_ - amount);
  }

 private:
  double most_;
  double per_ms_;
  double level_;
  MonoTime at_;
};

}  // namespace trainward

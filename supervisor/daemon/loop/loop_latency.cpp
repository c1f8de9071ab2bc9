#include "supervisor/daemon/loop/loop_latency.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace trainward::daemon {
namespace {

// 1, 2, 3 us have their own; from 4 on the two bits below the highest choose among four.
std::size_t bucket_of(std::uint64_t us) {
  if (us < 4) return static_cast<std::size_t>(us);
  const auto power = static_cast<std::size_t>(std::bit_width(us)) - 1;
  return power * 4 - 4 + static_cast<std::size_t>((us >> (power - 2)) & 3);
}

// The first value that is beyond it.
double end_of(std::size_t bucket) {
  if (bucket < 4) return static_cast<double>(bucket + 1);
  const auto power = static_cast<int>(bucket / 4) + 1;
  return std::ldexp(1.0 + static_cast<double>(bucket % 4 + 1) / 4, power);
}

double ms(std::int64_t us) { return static_cast<double>(us) / 1'000; }

}  // namespace

void LoopLatency::note(std::int64_t at_ms, std::int64_t microseconds) {
  const std::int64_t us = std::max<std::int64_t>(microseconds, 0);
  const std::int64_t number = at_ms / slot_ms;
  Slot& slot = minute_.at(static_cast<std::size_t>(number) % minute_.size());
  if (slot.number != number) slot = {number, 0};
  slot.most_us = std::max(slot.most_us, us);
  ++counts_.at(std::min(bucket_of(static_cast<std::uint64_t>(us)), counts_.size() - 1));
  ++samples_;
  most_us_ = std::max(most_us_, us);
}

LoopLatency::Figures LoopLatency::figures(std::int64_t now_ms) const {
  Figures out{samples_, 0, percentile_ms(0.5), percentile_ms(0.99), ms(most_us_)};
  const std::int64_t oldest = now_ms / slot_ms - static_cast<std::int64_t>(minute_.size());
  for (const Slot& slot : minute_) {
    if (slot.number > oldest)
      out.last_minute_max_ms = std::max(out.last_minute_max_ms, ms(slot.most_us));
  }
  return out;
}

double LoopLatency::percentile_ms(double share) const {
  const auto wanted = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(samples_)));
  std::int64_t seen = 0;
  for (std::size_t bucket = 0; bucket < counts_.size() && wanted > 0; ++bucket) {
    seen += counts_.at(bucket);
    if (seen >= wanted) return std::min(end_of(bucket) / 1'000, ms(most_us_));
  }
  return 0;
}

}  // namespace trainward::daemon

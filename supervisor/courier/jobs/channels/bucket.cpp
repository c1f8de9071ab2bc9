#include "supervisor/courier/jobs/channels/bucket.hpp"

#include <algorithm>
#include <cmath>

namespace trainward::courier {
namespace {

constexpr double a_second = 1'000;            // ms until there is one more at once
constexpr double a_share = 3'600'000.0 / 20;  // and one more of the hour

// Whole but for what sums of fractions lose.
constexpr double whole = 1 - 1e-9;

std::int64_t until_one(double level, double ms_each) {
  return level >= whole ? 0 : static_cast<std::int64_t>(std::ceil((1 - level) * ms_each));
}

}  // namespace

Bucket Bucket::at(std::int64_t now_ms) const {
  const auto gone = static_cast<double>(std::max<std::int64_t>(now_ms - at_ms, 0));
  return {std::min(most_at_once, at_once + gone / a_second),
          std::min(most_an_hour, hour + gone / a_share), now_ms};
}

std::int64_t Bucket::wait_ms() const {
  return std::max(until_one(at_once, a_second), until_one(hour, a_share));
}

void Bucket::take() {
  at_once = std::max(at_once - 1, 0.0);
  hour = std::max(hour - 1, 0.0);
}

}  // namespace trainward::courier

#include "trainer/optim/schedule.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace trainward::optim {

double rate_factor(const Schedule& schedule, std::int64_t step) {
  const bool from_zero = schedule.shape != Schedule::Shape::constant && !schedule.from_one;
  const auto at = static_cast<double>(from_zero ? step - 1 : step);
  const auto warmup = static_cast<double>(schedule.warmup_steps);
  if (at < warmup) return at / warmup;
  if (schedule.shape == Schedule::Shape::constant) return 1;
  const double begin = warmup + static_cast<double>(schedule.hold_steps);
  if (schedule.hold_steps > 0 && at <= begin) return 1;
  const double length = static_cast<double>(schedule.total_steps) - begin;
  const double way = length > 0 ? std::min(1.0, (at - begin) / length) : 1.0;
  const double high = schedule.shape == Schedule::Shape::linear
                          ? 1 - way
                          : (1 + std::cos(std::numbers::pi * way)) / 2;
  return schedule.final_share + (1 - schedule.final_share) * high;
}

}  // namespace trainward::optim

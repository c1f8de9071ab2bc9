// How learning rates change over a run: a factor per step, from 0 to 1.
//
// They rise linearly over the first `warmup_steps` and stay for `hold_steps`; then they stay on, or
// fall along half a cosine or a line to `final_share` at step `total_steps`, and stay there. Steps
// count from 1. Pure.
#pragma once

#include <cstdint>

namespace trainward::optim {

struct Schedule {
  enum class Shape { constant, cosine, linear } shape = Shape::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;  // of meaning for what falls, as the two below
  double final_share = 0.1;
  std::int64_t hold_steps = 0;
};

double rate_factor(const Schedule& schedule, std::int64_t step);

}  // namespace trainward::optim

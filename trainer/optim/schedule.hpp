// How learning rates change over a run: a factor per step, from 0 to 1.
//
// They rise linearly over the first `warmup_steps`, then stay, or fall along half a cosine to
// `final_share` at step `total_steps`, and stay there. Steps count from 1. Pure.
#pragma once

#include <cstdint>

namespace trainward::optim {

struct Schedule {
  enum class Shape { constant, cosine } shape = Shape::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;  // of meaning for cosine
  double final_share = 0.1;      // of meaning for cosine
};

double rate_factor(const Schedule& schedule, std::int64_t step);

}  // namespace trainward::optim

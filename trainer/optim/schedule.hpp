// How learning rates change over a run: a factor per step, from 0 to 1.
//
// They rise linearly over the first `warmup_steps` and stay for `hold_steps`; then they stay on, or
// fall along half a cosine or a line to `final_share`, and stay there. Steps are called 1, 2, 3, …
// A constant rate counts them so: it is whole at step `warmup_steps`. Those that fall count from 0,
// as PyTorch's and Hugging Face's schedules do: the first step of a warm-up has the rate 0, and the
// one behind `total_steps` would have `final_share`. Pure.
#pragma once

#include <cstdint>

namespace trainward::optim {

struct Schedule {
  enum class Shape { constant, cosine, linear } shape = Shape::constant;
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 0;  // of meaning for what falls, as the two below
  double final_share = 0.1;
  std::int64_t hold_steps = 0;
  bool from_one = false;  // what falls counts from 1 too: it reaches its end with the last step
};

double rate_factor(const Schedule& schedule, std::int64_t step);

}  // namespace trainward::optim

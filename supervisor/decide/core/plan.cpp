#include "supervisor/decide/core/plan.hpp"

#include <algorithm>

namespace trainward::core {
namespace {

constexpr std::int64_t hour_ms = 3'600'000;
constexpr std::int64_t day_ms = 24 * hour_ms;
// As many steps without trouble make a smaller plan worth leaving again.
constexpr std::int64_t proven_steps = 200;

}  // namespace

std::vector<Plan> plan_ladder(const Shrinking& shrinking) {
  Plan plan;
  plan.block = shrinking.block;
  plan.batch = shrinking.batch;
  std::vector<Plan> ladder{plan};
  if (shrinking.recompute) {
    plan.recompute = true;
    ladder.push_back(plan);
  }
  const auto can_split = [&] {
    const std::int64_t devices = std::max<std::int64_t>(shrinking.devices, 1);
    const bool shared = plan.batch % devices == 0;  // else whole batches are dealt out
    return plan.batch > 1 && plan.batch % 2 == 0 && (!shared || plan.batch / 2 % devices == 0);
  };
  while (shrinking.accumulate && can_split()) {
    plan.batch /= 2;
    plan.accumulation *= 2;
    ladder.push_back(plan);
  }
  const std::int64_t floor = std::max<std::int64_t>(shrinking.min_block, 1);
  while (shrinking.min_block > 0 && plan.block / 2 >= floor) {
    plan.block /= 2;
    ladder.push_back(plan);
  }
  return ladder;
}

bool shrink(PlanMemory& memory, const Shrinking& shrinking, WallTime now) {
  const auto rungs = static_cast<int>(plan_ladder(shrinking).size());
  FailedRung& failed = memory.failed[memory.rung];
  failed.times = std::min(failed.times + 1, 10);
  failed.not_before_wall_ms = now + std::min(hour_ms << (failed.times - 1), 7 * day_ms);
  if (memory.rung + 1 >= rungs) return false;
  ++memory.rung;
  memory.good_steps = 0;
  return true;
}

bool probe_up(PlanMemory& memory, WallTime now) {
  if (memory.rung == 0 || memory.good_steps < proven_steps) return false;
  const auto above = memory.failed.find(memory.rung - 1);
  if (above != memory.failed.end() && now < above->second.not_before_wall_ms) return false;
  --memory.rung;
  memory.good_steps = 0;
  return true;
}

}  // namespace trainward::core

#include "trainer/cpu/arena_plan.hpp"

#include <algorithm>
#include <numeric>

#include "trainer/cpu/runtime/memory.hpp"

namespace trainward::cpu {

ArenaPlan plan_arena(const std::vector<Lifetime>& lifetimes) {
  ArenaPlan plan;
  plan.offsets.resize(lifetimes.size());
  std::vector<std::size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // At one step the largest first: small ones then fill the gaps it leaves.
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    if (lifetimes[a].first != lifetimes[b].first) return lifetimes[a].first < lifetimes[b].first;
    return lifetimes[a].bytes > lifetimes[b].bytes;
  });
  const auto rounded = [&](std::size_t i) { return aligned(lifetimes[i].bytes); };
  std::vector<std::size_t> live;  // placed and not yet dead, by offset
  for (const std::size_t next : order) {
    std::erase_if(live, [&](std::size_t i) { return lifetimes[i].last < lifetimes[next].first; });
    std::size_t best = 0;
    std::size_t best_gap = SIZE_MAX;
    std::size_t end = 0;
    for (const std::size_t i : live) {
      const std::size_t gap = plan.offsets[i] - end;
      if (gap >= rounded(next) && gap < best_gap) {
        best = end;
        best_gap = gap;
      }
      end = plan.offsets[i] + rounded(i);
    }
    plan.offsets[next] = best_gap == SIZE_MAX ? end : best;
    plan.bytes = std::max(plan.bytes, plan.offsets[next] + rounded(next));
    live.insert(std::upper_bound(live.begin(), live.end(), next,
                                 [&](std::size_t a, std::size_t b) {
                                   return plan.offsets[a] < plan.offsets[b];
                                 }),
                next);
  }
  return plan;
}

}  // namespace trainward::cpu

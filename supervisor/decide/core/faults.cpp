#include "supervisor/decide/core/faults.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace trainward::core {
namespace {

constexpr std::size_t remembered = 8;

}  // namespace

void remember(Faults& faults, Fault fault) {
  if (faults.size() >= remembered) faults.erase(faults.begin());
  faults.push_back(fault);
}

bool again_there(const Faults& faults) {
  if (faults.size() < 2) return false;
  const Fault& last = faults.back();
  const Fault& before = faults[faults.size() - 2];
  return last.cause == before.cause && last.step == before.step;
}

bool deterministic(const Faults& faults) {
  // An attempt that never got to a step may have met a host that was not ready.
  return again_there(faults) && faults.back().survived > 0 &&
         faults[faults.size() - 2].survived > 0;
}

bool came_further(const Faults& faults) {
  if (faults.empty()) return true;
  const Fault& last = faults.back();
  const auto before = std::find_if(std::next(faults.rbegin()), faults.rend(),
                                   [&](const Fault& fault) { return fault.cause == last.cause; });
  return before == faults.rend() || last.step > before->step;
}

std::optional<std::int64_t> regular_limit(const Faults& faults) {
  if (faults.size() < 3) return std::nullopt;
  const auto first = faults.end() - 3;
  auto [least, most] = std::minmax_element(
      first, faults.end(), [](const Fault& a, const Fault& b) { return a.survived < b.survived; });
  // Only what a fresh process cures; a full disk is as full for the next one.
  if (!facts(first->cause).of_process) return std::nullopt;
  const bool alike = std::all_of(first, faults.end(), [&](const Fault& f) {
    return f.cause == first->cause && f.rung == first->rung;
  });
  if (!alike || least->survived < 1) return std::nullopt;
  if (most->survived - least->survived > std::max<std::int64_t>(least->survived / 10, 1)) {
    return std::nullopt;
  }
  return least->survived;
}

std::int64_t mean_life_ms(const Faults& faults) {
  if (faults.empty()) return 0;
  std::int64_t sum = 0;
  for (const Fault& fault : faults) sum += fault.lived_ms;
  return sum / static_cast<std::int64_t>(faults.size());
}

std::int64_t checkpoint_interval(std::int64_t save_cost_ms, std::int64_t save_write_ms,
                                 std::int64_t mean_life_ms, std::int64_t step_ms,
                                 std::int64_t max_steps) {
  if (mean_life_ms <= 0 || step_ms <= 0 || max_steps <= 0) return 0;
  const double interval_ms =
      std::sqrt(2.0 * static_cast<double>(std::max<std::int64_t>(save_cost_ms, 1)) *
                static_cast<double>(mean_life_ms));
  const std::int64_t written_within = (save_write_ms + step_ms - 1) / step_ms;
  const auto steps = std::max<std::int64_t>(
      {std::llround(interval_ms / static_cast<double>(step_ms)), written_within, 1});
  return steps < max_steps ? steps : 0;
}

}  // namespace trainward::core

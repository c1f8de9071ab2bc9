#include "supervisor/ctl/top/silence.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace trainward::ctl::top {
namespace {

constexpr std::int64_t least_ms = 30'000;
constexpr std::int64_t steps_missed = 10;
constexpr std::int64_t longest_pauses = 2;
constexpr std::size_t fewest_gaps = 3;

}  // namespace

std::optional<Silence> silence_of(const Curve& recent, std::int64_t now_ms) {
  if (recent.points.empty()) return std::nullopt;
  const std::int64_t attempt = recent.points.back().attempt;
  std::vector<std::int64_t> gaps;  // between what was told
  std::int64_t last_ms = 0;
  for (const CurvePoint& point : recent.points) {
    if (point.attempt != attempt || point.at_ms <= 0) continue;
    if (last_ms > 0) gaps.push_back(std::max<std::int64_t>(point.at_ms - last_ms, 0));
    last_ms = point.at_ms;
  }
  if (gaps.size() < fewest_gaps) return std::nullopt;
  std::ranges::sort(gaps);
  const std::int64_t usual = gaps[gaps.size() / 2];
  const std::int64_t expected =
      std::max({least_ms, steps_missed * usual, longest_pauses * gaps.back()});
  const std::int64_t since = now_ms - last_ms;
  if (since <= expected) return std::nullopt;
  return Silence{since, usual};
}

}  // namespace trainward::ctl::top

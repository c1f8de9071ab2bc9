#include "supervisor/record/store/curve/curve_ranges.hpp"

#include <algorithm>
#include <iterator>
#include <map>

namespace trainward::store {
namespace {

// Ranges of steps that do not touch, by their first.
class Covered {
 public:
  template <typename Visit>
  void parts_of(const StepRange& range, const Visit& visit) const {
    auto part = parts_.upper_bound(range.from);
    if (part != parts_.begin()) --part;
    for (; part != parts_.end() && part->first <= range.to; ++part) {
      const std::int64_t from = std::max(part->first, range.from);
      const std::int64_t to = std::min(part->second, range.to);
      if (from <= to) visit(from, to);
    }
  }

  void add(std::int64_t from, std::int64_t to) {
    auto part = parts_.upper_bound(from);
    if (part != parts_.begin() && std::prev(part)->second >= from - 1) --part;
    while (part != parts_.end() && part->first <= to + 1) {
      from = std::min(from, part->first);
      to = std::max(to, part->second);
      part = parts_.erase(part);
    }
    parts_[from] = to;
  }

 private:
  std::map<std::int64_t, std::int64_t> parts_;
};

}  // namespace

std::vector<StepRange> made_again(const std::vector<StepRange>& done) {
  std::vector<StepRange> again;
  Covered newer;
  for (auto range = done.rbegin(); range != done.rend(); ++range) {
    if (range->from > range->to) continue;
    newer.parts_of(*range, [&](std::int64_t from, std::int64_t to) {
      again.push_back({range->attempt, from, to});
    });
    newer.add(range->from, range->to);
  }
  std::sort(again.begin(), again.end(), [](const StepRange& a, const StepRange& b) {
    return a.attempt != b.attempt ? a.attempt < b.attempt : a.from < b.from;
  });
  return again;
}

}  // namespace trainward::store

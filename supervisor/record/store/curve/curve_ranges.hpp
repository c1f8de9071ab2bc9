// Which steps of which attempt a newer one made again: what lies under a curve as its ghost. Pure.
#pragma once

#include <cstdint>
#include <vector>

namespace trainward::store {

struct StepRange {
  std::int64_t attempt = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;  // the last one too
  friend bool operator==(const StepRange&, const StepRange&) = default;
};

// `done`: what each attempt did, oldest first. The result is in the order of attempts and steps.
std::vector<StepRange> made_again(const std::vector<StepRange>& done);

}  // namespace trainward::store

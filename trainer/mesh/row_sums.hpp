// What it costs that the devices of a row share the weights (tensor parallelism), and what it
// saves.
//
// The devices of a row add up activations in the middle of a step, again and again, and everything
// waits for it: nothing else is left to compute meanwhile. In return each computes, and keeps, only
// its share. Times are seconds; below 0 they count as 0. Pure.
#pragma once

#include <cstdint>

#include "trainer/mesh/all_reduce.hpp"
#include "trainer/mesh/links.hpp"

namespace trainward::mesh {

struct RowWork {
  std::int64_t columns = 1;
  std::int64_t sums = 0;         // of a step, forward and backward
  std::int64_t bytes = 0;        // of each
  double undivided_seconds = 0;  // what one device would compute of a step for all of its row
};

struct RowSums {
  AllReduceCost each;
  double sum_seconds = 0;    // of a step
  double saved_seconds = 0;  // of computing, by as many devices

  // Whether a step gets faster by it; else only the memory of a device is a reason.
  [[nodiscard]] bool helps() const { return sum_seconds < saved_seconds; }
};

RowSums row_sums(const RowWork& work, const Fabric& fabric);

}  // namespace trainward::mesh

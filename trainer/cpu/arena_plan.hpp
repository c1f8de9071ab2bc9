// Where each buffer lies in one arena, planned before anything runs.
//
// Buffers whose lifetimes do not meet share memory: in order of first use, each takes the smallest
// free gap that holds it (best fit), or extends the arena. Pure.
#pragma once

#include <cstddef>
#include <vector>

namespace trainward::cpu {

struct Lifetime {
  std::size_t bytes = 0;
  std::size_t first = 0;  // the step that writes it
  std::size_t last = 0;   // the last step that reads it, inclusive
};

struct ArenaPlan {
  std::vector<std::size_t> offsets;  // one per lifetime, multiples of `alignment`
  std::size_t bytes = 0;             // the arena's size: the peak
};

ArenaPlan plan_arena(const std::vector<Lifetime>& lifetimes);

}  // namespace trainward::cpu

// Runs a cluster: all of its operations on one tile of rows after another, tile by tile.
//
// The rows are cut into as many parts as there are threads, at places that depend on nothing else;
// a tile's values stay in the first-level cache. Sums over all rows are kept per part and added up
// in the order of the parts. Hence the same bits for the same number of threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "common/base/error.hpp"
#include "trainer/cpu/fusion/fusion.hpp"
#include "trainer/cpu/kernels/kernel.hpp"

namespace trainward::cpu {

struct FusedPlan {
  const LegalGraph& legal;
  const Fusion& fusion;
  int cluster;
  // The buffer of a stored value; nothing for a value only this cluster reads.
  std::function<std::optional<BufferId>(Value)> buffer_of;
  int threads;
};

// Errors (usage): an operation on an element type there is no loop for.
Result<std::unique_ptr<Kernel>> make_fused_kernel(const FusedPlan& plan);

}  // namespace trainward::cpu

// What share of a training step the chips wait for each other's gradients.
//
// Gradients are summed in buckets as the backward pass of the last micro-batch produces them, one
// after another. The last bucket is complete only when the pass is over, so all of it is exposed.
// Those before it fit beside the rest of the pass once the first is complete, or are exposed as
// far as they do not. With B buckets that take the pass as long to produce each:
//
//   exposed = max(0, communication - last bucket - (B - 1) / B * backward) + last bucket
//   share   = exposed / (compute + exposed)
//
// Accumulating over A micro-batches makes compute A times as long and changes nothing else, so it
// divides the share by nearly A. Times are seconds; below 0 they count as 0. Pure.
#pragma once

#include <cstdint>

#include "trainer/mesh/links.hpp"
#include "trainer/mesh/mesh.hpp"

namespace trainward::mesh {

// Below it, latency costs too much: from it on two thirds of a link's rate are reached.
inline constexpr std::int64_t min_bucket_bytes = std::int64_t{4} << 20U;
inline constexpr std::int64_t default_bucket_bytes = std::int64_t{16} << 20U;

struct StepWork {
  double compute_seconds = 0;       // of a step, all its micro-batches
  double backward_seconds = 0;      // of those, the backward pass of the last; 0: no overlap
  std::int64_t gradient_bytes = 0;  // on each chip
  std::int64_t bucket_bytes = default_bucket_bytes;  // raised to min_bucket_bytes
};

struct StepShare {
  double communication_seconds = 0;  // of all buckets
  double exposed_seconds = 0;
  double share = 0;  // of the step, 0 to 1
  std::int64_t buckets = 0;
  Source source = Source::measured;
};

StepShare step_share(const StepWork& work, const Mesh& mesh, const Fabric& fabric);

// The same step over as many micro-batches, from one that has a single one.
StepWork accumulated(StepWork work, std::int64_t micro_batches);

}  // namespace trainward::mesh

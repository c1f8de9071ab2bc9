#include "trainer/mesh/step_share.hpp"

#include <algorithm>
#include <cmath>

#include "trainer/mesh/all_reduce.hpp"

namespace trainward::mesh {

StepShare step_share(const StepWork& work, const Mesh& mesh, const Fabric& fabric) {
  StepShare result;
  const std::int64_t bytes = std::max<std::int64_t>(0, work.gradient_bytes);
  if (bytes == 0 || mesh.devices() <= 1) return result;
  const double compute = std::max(0.0, work.compute_seconds);
  const double backward = std::clamp(work.backward_seconds, 0.0, compute);

  const std::int64_t bucket = std::max(min_bucket_bytes, work.bucket_bytes);
  const std::int64_t full = bytes / bucket;
  const std::int64_t rest = bytes % bucket;
  result.buckets = full + (rest > 0 ? 1 : 0);

  double last = 0;
  if (full > 0) {
    const AllReduceCost cost = choose(mesh, fabric, bucket).cost;
    result.communication_seconds = static_cast<double>(full) * cost.seconds;
    result.source = cost.source;
    last = cost.seconds;
  }
  if (rest > 0) {
    const AllReduceCost cost = choose(mesh, fabric, rest).cost;
    result.communication_seconds += cost.seconds;
    result.source = std::max(result.source, cost.source);
    last = cost.seconds;
  }

  const double beside =
      backward * static_cast<double>(result.buckets - 1) / static_cast<double>(result.buckets);
  // Of both sums, so that infinity is not subtracted from itself.
  result.exposed_seconds = std::max(last, result.communication_seconds - beside);
  const double step = compute + result.exposed_seconds;
  // A network that carries nothing takes the whole step.
  if (std::isinf(result.exposed_seconds)) {
    result.share = 1;
  } else if (step > 0) {
    result.share = result.exposed_seconds / step;
  }
  return result;
}

StepWork accumulated(StepWork work, std::int64_t micro_batches) {
  work.compute_seconds *= static_cast<double>(std::max<std::int64_t>(1, micro_batches));
  return work;
}

}  // namespace trainward::mesh

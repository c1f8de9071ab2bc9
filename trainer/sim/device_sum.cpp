#include "trainer/sim/device_sum.hpp"

namespace trainward::n300 {

void sum_over_devices(std::span<const float* const> from, std::span<float* const> to,
                      std::int64_t elements) {
  const std::size_t devices = from.size();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < elements; ++i) {
    float sum = from[0][i];
    for (std::size_t d = 1; d < devices; ++d) sum += from[d][i];
    for (std::size_t d = 0; d < devices; ++d) to[d][i] = sum;
  }
}

}  // namespace trainward::n300

#include "sgd.hpp"

#include <cstddef>

#include "common/base/bf16.hpp"

namespace trainward::optim {

void sgd_step(std::span<float> parameters, std::span<const float> gradients,
              std::span<std::uint16_t> packed, float rate, int threads) {
  float* p = parameters.data();
  const float* g = gradients.data();
  const auto n = static_cast<std::ptrdiff_t>(parameters.size());
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (std::ptrdiff_t i = 0; i < n; ++i) p[i] -= rate * g[i];
  if (packed.empty()) return;
  std::uint16_t* half = packed.data();
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (std::ptrdiff_t i = 0; i < n; ++i) half[i] = bf16_from_float(p[i]);
}

}  // namespace trainward::optim

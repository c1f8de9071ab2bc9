#include "trainer/optim/sgd.hpp"

#include <cstddef>

namespace trainward::optim {

void sgd_step(std::span<float> parameters, std::span<const float> gradients, float rate,
              int threads) {
  float* p = parameters.data();
  const float* g = gradients.data();
  const auto n = static_cast<std::ptrdiff_t>(parameters.size());
#pragma omp parallel for simd num_threads(threads) schedule(static)
  for (std::ptrdiff_t i = 0; i < n; ++i) p[i] -= rate * g[i];
}

}  // namespace trainward::optim

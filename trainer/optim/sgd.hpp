// Plain stochastic gradient descent on a flat array: p -= rate · g. The bits do not depend on the
// number of threads.
#pragma once

#include <span>

namespace trainward::optim {

void sgd_step(std::span<float> parameters, std::span<const float> gradients, float rate,
              int threads);

}  // namespace trainward::optim

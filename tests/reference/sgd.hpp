// Plain stochastic gradient descent on a flat array: p -= rate · g, and p rounded to bf16 goes to
// `packed` unless that is empty. The bits do not depend on the
// number of threads.
#pragma once

#include <cstdint>
#include <span>

namespace trainward::optim {

void sgd_step(std::span<float> parameters, std::span<const float> gradients,
              std::span<std::uint16_t> packed, float rate, int threads);

}  // namespace trainward::optim

// The two loops of the optimizer, one run of elements each; built once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainward::optim {

// One step's factors, the same for every element of a parameter group.
struct AdamWFactors {
  float keep;  // 1 - rate * weight decay
  float clip;  // what gradients are multiplied by
  float beta1;
  float one_minus_beta1;
  float beta2;
  float one_minus_beta2;
  float step_size;    // rate / (1 - beta1^t)
  float denominator;  // 1 / sqrt(1 - beta2^t)
  float epsilon;
};

struct AdamWLoops {
  // Reads gradient and moments, writes parameter and moments, and the parameter rounded to bf16
  // unless `packed` is null: one pass over memory.
  void (*update)(float* parameter, const float* gradient, float* mean, float* variance,
                 std::uint16_t* packed, std::ptrdiff_t n, const AdamWFactors& factors);
  // Sum of squares in double precision, in a fixed order.
  double (*sum_of_squares)(const float* x, std::ptrdiff_t n);
};

AdamWLoops adamw_loops();  // the fastest this processor can run

namespace base {
AdamWLoops adamw_loops();
}
namespace v3 {
AdamWLoops adamw_loops();
}
namespace v4 {
AdamWLoops adamw_loops();
}

}  // namespace trainward::optim

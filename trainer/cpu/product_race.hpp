// Which precision this processor multiplies faster: found by multiplying, since neither its flags
// nor the name of a library's kernel say it.
//
// In: the size of a product that a model is made of. Out: the best time of a few rounds of each,
// taken in turns, in milliseconds; with what bf16 costs besides, the rounding of one operand (the
// other, a weight, is rounded once a step). Takes some tens of milliseconds. Errors: those of
// Program::compile().
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "trainer/cpu/runtime/runtime.hpp"

namespace trainward::cpu {

struct ProductSize {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
};

struct ProductTimes {
  double f32 = 0;
  double bf16 = 0;

  // By more than one measurement differs from the next.
  [[nodiscard]] bool bf16_is_faster() const { return bf16 < 0.95 * f32; }
};

Result<ProductTimes> race_products(const Runtime& runtime, const ProductSize& size);

}  // namespace trainward::cpu

// The innermost loops: one operation over one run of elements.
//
// Every function has one shape: out[i] = f(in[0][i * stride], …) for i < n, with element strides in
// `inputs` (0 repeats one element). `out` is dense and may be one of the inputs when that input has
// stride 1. Reductions write out[0]. Predicates are stored as std::int32_t 0 or 1, bf16 by its bits
// as std::uint16_t.
//
// Built once per instruction set (tile_kernels_*.cpp); results may differ in the last bits between
// them, never between two runs on one machine.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainward::cpu {

struct Lane {
  const void* data;
  std::ptrdiff_t stride;
};

using TileFn = void (*)(void* out, const Lane* inputs, std::ptrdiff_t n);

enum class TileOp : std::uint8_t {
  copy,  // of four bytes an element
  copy_bf16,
  to_bf16,  // from f32, to the nearest
  from_bf16,
  to_f32,  // from i32 or pred
  to_i32,  // from f32, towards zero
  f32_to_pred,
  i32_to_pred,
  negate,
  exponential,
  log,
  sqrt,
  rsqrt,
  tanh,
  add,
  subtract,
  multiply,
  divide,
  maximum,
  add_i32,
  subtract_i32,
  multiply_i32,
  maximum_i32,
  and_i32,
  or_i32,
  xor_i32,
  shift_right_i32,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  eq_i32,
  ne_i32,
  lt_i32,
  le_i32,
  gt_i32,
  ge_i32,
  select,
  row_sum,
  row_maximum,
  row_product,  // the sum of f32 times bf16
  count,
};

// What attention does to a row of scores, each in one pass. Sums are taken in the order of the
// tiles' reductions.
struct ShareLoops {
  // x[i] = exp(x[i] * scale - shift); returns their sum. What is below exp(-87) becomes 0; for
  // exponents that are not above 0 but by rounding.
  float (*powers)(float* x, float scale, float shift, std::ptrdiff_t n);
  // The sum of a[i] * b[i].
  float (*product)(const float* a, const float* b, std::ptrdiff_t n);
  // x[i] = (x[i] - mean) * shares[i] * scale
  void (*of_scores)(float* x, const float* shares, float mean, float scale, std::ptrdiff_t n);
};

// The fastest tables this processor can run.
TileFn tile_kernel(TileOp op);
ShareLoops share_loops();

namespace base {
TileFn tile_kernel(TileOp op);
ShareLoops share_loops();
}  // namespace base
namespace v3 {
TileFn tile_kernel(TileOp op);
ShareLoops share_loops();
}  // namespace v3
namespace v4 {
TileFn tile_kernel(TileOp op);
ShareLoops share_loops();
}  // namespace v4

}  // namespace trainward::cpu

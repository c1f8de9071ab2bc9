// How a dot_general looks to a matrix product: batch axes, then M×K times K×N into M×N, each with
// its stride in the stored operands.
#pragma once

#include <optional>

#include "trainer/cpu/runtime/view.hpp"

namespace trainward::cpu {

struct DotLayout {
  Shape batch;  // sizes, merged to as few as all three strides allow
  std::int64_t m = 1, n = 1, k = 1;
  Shape lhs_batch, rhs_batch, out_batch;  // strides, one per batch size
  Span lhs_m, lhs_k, rhs_k, rhs_n, out_m, out_n;
};

// Whether an operand can be used where it lies: free and contracted axes merge to one stride each,
// one of the two strides is 1 and nothing repeats.
bool fits_product(const View& operand, const Axes& batch, const Axes& contract);

// The axes of an operand in the order batch, free, contracted.
Axes product_order(std::size_t rank, const Axes& batch, const Axes& contract);

// Nothing when an operand or the result does not fit.
std::optional<DotLayout> dot_layout(const graph::op::DotGeneral& dot, const View& lhs,
                                    const View& rhs, const View& out);

}  // namespace trainward::cpu

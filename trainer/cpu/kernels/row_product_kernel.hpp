// One row of f32 by a matrix of bf16: out[j] = sum over i of row[i] * matrix[j][i].
//
// What a model does with each new token. It reads the matrix once and is as fast as the memory, so
// the matrix is widened on its way into the registers: a wide copy would be written and read on top
// of that. Dense operands; sums are f32, in an order that does not depend on the threads.
#pragma once

#include <cstdint>
#include <memory>

#include "trainer/cpu/kernels/kernel.hpp"

namespace trainward::cpu {

struct RowProduct {
  BufferId row, matrix, out;
  std::int64_t row_offset, matrix_offset;  // elements
  std::int64_t columns;                    // of the matrix, and elements of the row
  std::int64_t rows;                       // of the matrix, and elements of the result
  bool add = false;                        // to what `out` holds, instead of overwriting it
};

std::unique_ptr<Kernel> make_row_product_kernel(const RowProduct& product, int threads);

}  // namespace trainward::cpu

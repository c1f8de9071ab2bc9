// Tensors on their way into a folder for others: cut to the rows that count, and rounded to the
// type they are to have there.
//
// In: sources of float tensors. Out: sources that fail (kind usage, with the tensor's name) where a
// finite value would become infinite: f16 ends at 65504. A few hundred KiB while they are read.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "checkpoint/format/tensor.hpp"

namespace trainward::checkpoint::huggingface {

// The first `rows` of a tensor's rows; it has as many or more.
TensorSource first_rows(TensorSource source, std::int64_t rows);

// The same tensor as another float type, rounded to the nearest.
TensorSource rounded(TensorSource source, DType to);

// Rounds elements; `tensor` for errors. Both spans hold the same number of whole elements.
Status round_elements(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out,
                      const std::string& tensor);

}  // namespace trainward::checkpoint::huggingface

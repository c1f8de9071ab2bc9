// A dot_general as one oneDNN matrix product, created once.
#pragma once

#include <memory>
#include <optional>

#include "common/base/error.hpp"
#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/cpu/runtime/dot_layout.hpp"
#include "trainer/cpu/runtime/runtime.hpp"

namespace trainward::cpu {

struct DotBuffers {
  BufferId lhs, rhs, out;
  std::int64_t lhs_offset, rhs_offset;           // elements
  graph::Element element = graph::Element::f32;  // of the operands; sums and `out` are f32
  bool add = false;                              // to what `out` holds, instead of overwriting it
  std::optional<BufferId> bias;                  // f32, dense: added to each row
};

// Errors: permanent, with oneDNN's words, when the library refuses the product.
Result<std::unique_ptr<Kernel>> make_dot_kernel(const Runtime& runtime, const DotLayout& layout,
                                                const DotBuffers& buffers);

}  // namespace trainward::cpu

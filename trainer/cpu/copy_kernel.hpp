// Copies parts into places of a dense result, over zeros: what pad and concatenate do.
#pragma once

#include <memory>
#include <vector>

#include "trainer/cpu/kernel.hpp"
#include "trainer/cpu/view.hpp"

namespace trainward::cpu {

struct Part {
  BufferId from = 0;
  View source;  // shape, and strides and offset in `from`
  Axes start;   // where its first element goes
};

std::unique_ptr<Kernel> make_copy_kernel(std::vector<Part> parts, BufferId out, const Shape& shape,
                                         int threads);

}  // namespace trainward::cpu

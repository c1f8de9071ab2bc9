// Adds one dense buffer to another: sums that go on from run to run.
#pragma once

#include <memory>

#include "trainer/cpu/kernel.hpp"

namespace trainward::cpu {

// out[i] += from[i] for `elements` f32 elements.
std::unique_ptr<Kernel> make_add_kernel(BufferId from, BufferId out, std::int64_t elements,
                                        int threads);

}  // namespace trainward::cpu

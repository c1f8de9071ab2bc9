// The kernels that are neither fused loops nor products: each moves or adds what lies somewhere.
//
// All are bit-identical for any number of threads: the scatter gives each thread columns, not rows,
// so every sum is taken in the order of the ids.
#pragma once

#include <memory>
#include <vector>

#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/cpu/runtime/view.hpp"

namespace trainward::cpu {

struct Part {
  BufferId from = 0;
  View source;  // shape, and strides and offset in `from`
  Axes start;   // where its first element goes
};

// Copies parts into places of a dense result, over zeros: what pad and concatenate do.
std::unique_ptr<Kernel> make_copy_kernel(std::vector<Part> parts, BufferId out, const Shape& shape,
                                         int threads);

// Table look-ups: gathering rows by id, and adding rows into a table by id.
struct RowTable {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t ids = 0;                          // how many
  graph::Element element = graph::Element::f32;  // only gathered rows may be other than f32
};

// Dense operands at element offsets. An id outside the table is clamped into it.
std::unique_ptr<Kernel> make_gather_kernel(RowTable table, BufferId from, std::int64_t from_offset,
                                           BufferId ids, std::int64_t ids_offset, BufferId out,
                                           int threads);

// An id outside the table adds nothing. `add`: to what `out` holds, instead of to zeros.
std::unique_ptr<Kernel> make_scatter_kernel(RowTable table, BufferId ids, std::int64_t ids_offset,
                                            BufferId updates, std::int64_t updates_offset,
                                            BufferId out, bool add, int threads);

// Adds one dense buffer to another, for sums that continue from run to run:
// out[i] += from[i] for `elements` f32 elements.
std::unique_ptr<Kernel> make_add_kernel(BufferId from, BufferId out, std::int64_t elements,
                                        int threads);

}  // namespace trainward::cpu

// Table look-ups: gathering rows by id, and adding rows into a table by id.
//
// Both are bit-identical for any number of threads: the scatter gives each thread columns, not
// rows, so every sum is taken in the order of the ids.
#pragma once

#include <memory>

#include "trainer/cpu/kernel.hpp"

namespace trainward::cpu {

struct RowTable {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t ids = 0;  // how many
};

// Dense operands at element offsets. An id outside the table is clamped into it.
std::unique_ptr<Kernel> make_gather_kernel(RowTable table, BufferId from, std::int64_t from_offset,
                                           BufferId ids, std::int64_t ids_offset, BufferId out,
                                           int threads);

// An id outside the table adds nothing. `add`: to what `out` holds, instead of to zeros.
std::unique_ptr<Kernel> make_scatter_kernel(RowTable table, BufferId ids, std::int64_t ids_offset,
                                            BufferId updates, std::int64_t updates_offset,
                                            BufferId out, bool add, int threads);

}  // namespace trainward::cpu

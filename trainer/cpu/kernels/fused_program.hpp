// The instructions of a fused kernel, as data.
#pragma once

#include <memory>
#include <vector>

#include "trainer/cpu/kernels/kernel.hpp"
#include "trainer/cpu/kernels/tile_kernels.hpp"

namespace trainward::cpu {

// Where an instruction reads or writes. For buffers, row r begins at `offset` elements plus
// r * row_stride, or at row_offsets[r] when rows are not evenly spaced. Slots are the tile's own
// memory, addressed from the tile's first row.
struct Place {
  enum class Kind { buffer, slot } kind = Kind::slot;
  BufferId buffer = 0;
  std::int64_t bytes = element_bytes;  // an element
  std::int64_t offset = 0;             // elements into the buffer, or into the thread's slots
  std::int64_t row_stride = 0;
  std::int64_t element_stride = 0;
  std::vector<std::int64_t> row_offsets;
};

struct Instruction {
  enum class Kind {
    elements,     // per element of the row (width = columns) or of the per-row values (width = 1)
    reduce_row,   // a row to one value
    reduce_rows,  // all rows into an accumulator, element by element
  } kind = Kind::elements;
  TileFn function = nullptr;
  std::int64_t width = 1;
  std::vector<Place> inputs;
  Place out;                     // for reduce_rows: the result's buffer
  std::int64_t accumulator = 0;  // for reduce_rows: element offset in the part's scratch
  float start = 0;               // and its first value
};

struct FusedProgram {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t tile_rows = 1;
  std::int64_t slot_elements = 0;  // per part, accumulators included
  std::vector<Instruction> instructions;
};

std::unique_ptr<Kernel> make_fused_kernel(FusedProgram program, int threads);

}  // namespace trainward::cpu

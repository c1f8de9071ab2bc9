#include "trainer/cpu/kernels/fused_kernel.hpp"

#include <algorithm>
#include <array>

#include "trainer/cpu/kernels/fused_program.hpp"

namespace trainward::cpu {
namespace {

// One part's view of memory while it runs.
struct Part {
  Addresses addresses;
  std::byte* slots;
};

struct Cursor {
  std::byte* first;  // the place's row `row`
  bool dense;        // all rows of the tile form one run with the element stride
};

Cursor at(const Place& place, const Part& part, std::int64_t row, std::int64_t tile_row,
          std::int64_t width) {
  const bool slot = place.kind == Place::Kind::slot;
  std::byte* base = slot ? part.slots : part.addresses[place.buffer];
  std::int64_t offset = place.offset;
  if (slot) {
    offset += (row - tile_row) * place.row_stride;
  } else {
    offset += place.row_offsets.empty() ? row * place.row_stride
                                        : place.row_offsets[static_cast<std::size_t>(row)];
  }
  return {base + offset * place.bytes,
          place.row_offsets.empty() && place.row_stride == place.element_stride * width};
}

constexpr std::size_t max_inputs = 3;

class FusedKernel final : public Kernel {
 public:
  FusedKernel(FusedProgram program, int threads)
      : program_(std::move(program)), threads_(threads) {}

  [[nodiscard]] std::size_t scratch_bytes() const override {
    return static_cast<std::size_t>(program_.slot_elements * threads_) * element_bytes;
  }

  void run(Addresses addresses) const override {
    constexpr std::int64_t worth_threads = 1 << 13;
    const bool parallel = threads_ > 1 && program_.rows * program_.columns >= worth_threads;
#pragma omp parallel for num_threads(threads_) schedule(static, 1) if (parallel)
    for (int index = 0; index < threads_; ++index) run_part(addresses, index);
    for (const Instruction& instruction : program_.instructions) {
      if (instruction.kind == Instruction::Kind::reduce_rows) combine(instruction, addresses);
    }
  }

 private:
  [[nodiscard]] Part part(Addresses addresses, int index) const {
    std::byte* slots = program_.slot_elements == 0 ? nullptr : scratch(addresses);
    return {addresses,
            slots + program_.slot_elements * index * static_cast<std::int64_t>(element_bytes)};
  }
  static float* accumulator(const Instruction& instruction, const Part& part) {
    return reinterpret_cast<float*>(part.slots) + instruction.accumulator;
  }

  void run_part(Addresses addresses, int index) const {
    const Part mine = part(addresses, index);
    for (const Instruction& instruction : program_.instructions) {
      if (instruction.kind != Instruction::Kind::reduce_rows) continue;
      std::fill_n(accumulator(instruction, mine), instruction.width, instruction.start);
    }
    const std::int64_t first = program_.rows * index / threads_;
    const std::int64_t last = program_.rows * (index + 1) / threads_;
    for (std::int64_t row = first; row < last; row += program_.tile_rows) {
      const std::int64_t rows = std::min(program_.tile_rows, last - row);
      for (const Instruction& instruction : program_.instructions) {
        run_tile(instruction, mine, row, rows);
      }
    }
  }

  static void run_tile(const Instruction& instruction, const Part& part, std::int64_t row,
                       std::int64_t rows) {
    if (instruction.kind == Instruction::Kind::elements &&
        run_dense(instruction, part, row, rows)) {
      return;
    }
    const std::size_t count = instruction.inputs.size();
    std::array<Lane, max_inputs> lanes{};
    for (std::int64_t r = row; r < row + rows; ++r) {
      for (std::size_t i = 0; i < count; ++i) {
        const Place& input = instruction.inputs[i];
        lanes[i] = {at(input, part, r, row, instruction.width).first, input.element_stride};
      }
      if (instruction.kind == Instruction::Kind::reduce_rows) {
        float* sum = accumulator(instruction, part);
        lanes[1] = lanes[0];
        lanes[0] = {sum, 1};
        instruction.function(sum, lanes.data(), instruction.width);
      } else {
        std::byte* out = at(instruction.out, part, r, row, instruction.width).first;
        instruction.function(out, lanes.data(), instruction.width);
      }
    }
  }

  // The whole tile in one call, when every operand is one run of elements.
  static bool run_dense(const Instruction& instruction, const Part& part, std::int64_t row,
                        std::int64_t rows) {
    std::array<Lane, max_inputs> lanes{};
    const Cursor out = at(instruction.out, part, row, row, instruction.width);
    bool dense = out.dense;
    for (std::size_t i = 0; i < instruction.inputs.size() && dense; ++i) {
      const Cursor input = at(instruction.inputs[i], part, row, row, instruction.width);
      lanes[i] = {input.first, instruction.inputs[i].element_stride};
      dense = input.dense;
    }
    if (dense) instruction.function(out.first, lanes.data(), rows * instruction.width);
    return dense;
  }

  void combine(const Instruction& instruction, Addresses addresses) const {
    float* out = reinterpret_cast<float*>(addresses[instruction.out.buffer]);
    std::fill_n(out, instruction.width, instruction.start);
    for (int index = 0; index < threads_; ++index) {
      const std::array<Lane, 2> lanes{
          {{out, 1}, {accumulator(instruction, part(addresses, index)), 1}}};
      instruction.function(out, lanes.data(), instruction.width);
    }
  }

  FusedProgram program_;
  int threads_;
};

}  // namespace

std::unique_ptr<Kernel> make_fused_kernel(FusedProgram program, int threads) {
  return std::make_unique<FusedKernel>(std::move(program), threads);
}

}  // namespace trainward::cpu

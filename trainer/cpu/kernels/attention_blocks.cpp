#include "trainer/cpu/kernels/attention_blocks.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>

namespace trainward::cpu {

using graph::Element;

std::int64_t queries_at_a_time(std::int64_t positions) {
  return std::clamp<std::int64_t>((positions / 8 + 63) / 64 * 64, 64, 256);
}

Matrix matrix(std::int64_t rows, std::int64_t columns, std::int64_t row_stride) {
  return {rows, columns, {rows, row_stride}, {columns, 1}};
}
Matrix transposed(const Matrix& x) { return {x.columns, x.rows, x.column, x.row}; }

Product product(const Runtime& runtime, Element element, const Matrix& a, const Matrix& b,
                std::int64_t row_stride, bool add) {
  DotLayout layout;
  layout.m = a.rows;
  layout.n = b.columns;
  layout.k = a.columns;
  layout.lhs_m = a.row;
  layout.lhs_k = a.column;
  layout.rhs_k = b.row;
  layout.rhs_n = b.column;
  layout.out_m = {a.rows, row_stride};
  layout.out_n = {b.columns, 1};
  return {runtime.library(), layout, element, add};
}

AttentionKernel::AttentionKernel(const Runtime& runtime, const AttentionInputs& inputs)
    : inputs_(inputs), sizes_(inputs.sizes), threads_(runtime.threads()) {
  const std::int64_t rows = queries_at_a_time(sizes_.positions);
  for (std::int64_t first = 0; first < sizes_.positions; first += rows) {
    const std::int64_t last = std::min(first + rows, sizes_.positions);
    blocks_.push_back({first, last - first, last});
  }
}

void AttentionKernel::run(Addresses addresses) const {
  const std::int64_t tasks = sizes_.batch * sizes_.groups;
#pragma omp parallel for num_threads(threads_) schedule(static, 1)
  for (int thread = 0; thread < threads_; ++thread) {
    std::byte* own = scratch(addresses) + scratch_each_ * static_cast<std::size_t>(thread);
    for (std::int64_t task = tasks * thread / threads_; task < tasks * (thread + 1) / threads_;
         ++task) {
      work(addresses, thread, own, task / sizes_.groups, task % sizes_.groups);
    }
  }
}

void AttentionKernel::make_products(const Runtime& runtime, const Maker& make) {
  omp_set_num_threads(1);
  for (int thread = 0; thread < threads_; ++thread) {
    std::vector<std::vector<Product>>& own = products_.emplace_back();
    for (const Block& block : blocks_) {
      own.push_back(make(block));
      for (const Product& each : own.back()) {
        library_bytes_ = std::max(library_bytes_, aligned(each.scratch_bytes()));
      }
    }
  }
  runtime.apply();
}

void* AttentionKernel::turned(Addresses addresses, const AttentionOperand& operand,
                              std::int64_t batch, std::int64_t head, std::int64_t width,
                              std::byte* to) const {
  const std::byte* from = at(addresses, operand, batch, 0, head);
  if (sizes_.element == graph::Element::f32) {
    turn(reinterpret_cast<float*>(to), reinterpret_cast<const float*>(from), sizes_.positions,
         width, operand.position_stride);
  } else {
    turn(reinterpret_cast<std::uint16_t*>(to), reinterpret_cast<const std::uint16_t*>(from),
         sizes_.positions, width, operand.position_stride);
  }
  return to;
}

void AttentionKernel::take_shares(Addresses addresses, std::int64_t batch, const Block& block,
                                  float* scores, float* totals) const {
  const std::int32_t* segments = nullptr;
  if (inputs_.segments) {
    segments = reinterpret_cast<const std::int32_t*>(addresses[*inputs_.segments]) +
               inputs_.segments_offset + batch * sizes_.positions;
  }
  for (std::int64_t r = 0; r < block.rows; ++r) {
    float* row = scores + r * block.keys;
    const std::int64_t seen = block.first + r + 1;
    const std::int64_t whole = worked_on(seen, block);
    tiles_.scale(row, static_cast<float>(sizes_.scale), seen);
    std::fill(row + seen, row + whole, hidden);
    for (std::int64_t i = 0; segments != nullptr && i < seen; ++i) {
      if (segments[i] != segments[seen - 1]) row[i] = hidden;
    }
    const float largest = tiles_.largest(row, whole);
    tiles_.subtract(row, largest, whole);
    tiles_.exponential(row, whole);
    const float total = tiles_.sum(row, whole);
    tiles_.scale(row, 1 / total, whole);
    std::fill(row + whole, row + block.keys, 0.0F);
    if (totals != nullptr) totals[r] = largest + std::log(total);
  }
}

}  // namespace trainward::cpu

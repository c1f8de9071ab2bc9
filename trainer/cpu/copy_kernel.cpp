#include "trainer/cpu/copy_kernel.hpp"

#include <cstring>

namespace trainward::cpu {
namespace {

struct Move {
  BufferId from = 0;
  Shape shape;  // never empty
  Shape from_strides;
  Shape to_strides;
  std::int64_t from_offset = 0;
  std::int64_t to_offset = 0;
};

void copy_axis(const Move& move, std::size_t axis, std::int64_t first, std::int64_t last,
               const std::uint32_t* from, std::uint32_t* to) {
  const std::int64_t from_stride = move.from_strides[axis];
  const std::int64_t to_stride = move.to_strides[axis];
  if (axis + 1 == move.shape.size()) {
    if (from_stride == 1 && to_stride == 1) {
      std::memcpy(to + first, from + first, static_cast<std::size_t>(last - first) * element_bytes);
      return;
    }
    for (std::int64_t i = first; i < last; ++i) to[i * to_stride] = from[i * from_stride];
    return;
  }
  for (std::int64_t i = first; i < last; ++i) {
    copy_axis(move, axis + 1, 0, move.shape[axis + 1], from + i * from_stride, to + i * to_stride);
  }
}

class CopyKernel final : public Kernel {
 public:
  CopyKernel(std::vector<Move> moves, BufferId out, std::int64_t elements, int threads)
      : moves_(std::move(moves)), out_(out), elements_(elements), threads_(threads) {}

  void run(Addresses addresses) const override {
    auto* out = reinterpret_cast<std::uint32_t*>(addresses[out_]);
    std::memset(out, 0, static_cast<std::size_t>(elements_) * element_bytes);
    for (const Move& move : moves_) {
      const auto* from =
          reinterpret_cast<const std::uint32_t*>(addresses[move.from]) + move.from_offset;
      const std::int64_t size = move.shape[0];
#pragma omp parallel for num_threads(threads_) schedule(static) if (elements_ > 1 << 14)
      for (int part = 0; part < threads_; ++part) {
        copy_axis(move, 0, size * part / threads_, size * (part + 1) / threads_, from,
                  out + move.to_offset);
      }
    }
  }

 private:
  std::vector<Move> moves_;
  BufferId out_;
  std::int64_t elements_;
  int threads_;
};

}  // namespace

std::unique_ptr<Kernel> make_copy_kernel(std::vector<Part> parts, BufferId out, const Shape& shape,
                                         int threads) {
  const Shape strides = graph::contiguous_strides(shape);
  std::vector<Move> moves;
  for (Part& part : parts) {
    Move move{part.from, part.source.shape, part.source.strides, strides, part.source.offset, 0};
    for (std::size_t i = 0; i < strides.size(); ++i) move.to_offset += part.start[i] * strides[i];
    if (move.shape.empty()) {
      move.shape = {1};
      move.from_strides = {1};
      move.to_strides = {1};
    }
    moves.push_back(std::move(move));
  }
  return std::make_unique<CopyKernel>(std::move(moves), out, graph::element_count(shape), threads);
}

}  // namespace trainward::cpu

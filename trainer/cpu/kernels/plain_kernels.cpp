#include "trainer/cpu/kernels/plain_kernels.hpp"

#include <algorithm>
#include <cstring>

#include "trainer/cpu/kernels/tile_kernels.hpp"

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
      : moves_(std::move(moves)), out_(out), elements_(elements), threads_(threads) {
    std::int64_t moved = 0;
    for (const Move& move : moves_) moved += graph::element_count(move.shape);
    leaves_rest_ = moved < elements;  // parts do not overlap
  }

  void run(Addresses addresses) const override {
    auto* out = reinterpret_cast<std::uint32_t*>(addresses[out_]);
    if (leaves_rest_) std::memset(out, 0, static_cast<std::size_t>(elements_) * element_bytes);
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
  bool leaves_rest_ = false;
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

namespace {

class GatherKernel final : public Kernel {
 public:
  GatherKernel(RowTable table, BufferId from, std::int64_t from_offset, BufferId ids,
               std::int64_t ids_offset, BufferId out, int threads)
      : table_(table),
        from_(from),
        from_offset_(from_offset),
        ids_(ids),
        ids_offset_(ids_offset),
        out_(out),
        threads_(threads) {}

  void run(Addresses addresses) const override {
    const auto each = static_cast<std::int64_t>(bytes_of(table_.element));
    const std::byte* from = addresses[from_] + from_offset_ * each;
    const auto* ids = reinterpret_cast<const std::int32_t*>(addresses[ids_]) + ids_offset_;
    std::byte* out = addresses[out_];
    const std::int64_t bytes = table_.width * each;
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < table_.ids; ++i) {
      const std::int64_t row = std::clamp<std::int64_t>(ids[i], 0, table_.rows - 1);
      std::memcpy(out + i * bytes, from + row * bytes, static_cast<std::size_t>(bytes));
    }
  }

 private:
  RowTable table_;
  BufferId from_;
  std::int64_t from_offset_;
  BufferId ids_;
  std::int64_t ids_offset_;
  BufferId out_;
  int threads_;
};

class ScatterKernel final : public Kernel {
 public:
  ScatterKernel(RowTable table, BufferId ids, std::int64_t ids_offset, BufferId updates,
                std::int64_t updates_offset, BufferId out, bool add, int threads)
      : table_(table),
        ids_(ids),
        ids_offset_(ids_offset),
        updates_(updates),
        updates_offset_(updates_offset),
        out_(out),
        add_(add),
        threads_(threads) {}

  void run(Addresses addresses) const override {
    const auto* ids = reinterpret_cast<const std::int32_t*>(addresses[ids_]) + ids_offset_;
    const auto* updates = reinterpret_cast<const float*>(addresses[updates_]) + updates_offset_;
    auto* out = reinterpret_cast<float*>(addresses[out_]);
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (int part = 0; part < threads_; ++part) {
      const std::int64_t first = table_.width * part / threads_;
      const std::int64_t last = table_.width * (part + 1) / threads_;
      for (std::int64_t row = 0; row < table_.rows && !add_; ++row) {
        std::fill(out + row * table_.width + first, out + row * table_.width + last, 0.0F);
      }
      for (std::int64_t i = 0; i < table_.ids; ++i) {
        const std::int64_t row = ids[i];
        if (row < 0 || row >= table_.rows) continue;
        float* target = out + row * table_.width;
        const float* source = updates + i * table_.width;
        for (std::int64_t c = first; c < last; ++c) target[c] += source[c];
      }
    }
  }

 private:
  RowTable table_;
  BufferId ids_;
  std::int64_t ids_offset_;
  BufferId updates_;
  std::int64_t updates_offset_;
  BufferId out_;
  bool add_;
  int threads_;
};

}  // namespace

std::unique_ptr<Kernel> make_gather_kernel(RowTable table, BufferId from, std::int64_t from_offset,
                                           BufferId ids, std::int64_t ids_offset, BufferId out,
                                           int threads) {
  return std::make_unique<GatherKernel>(table, from, from_offset, ids, ids_offset, out, threads);
}

std::unique_ptr<Kernel> make_scatter_kernel(RowTable table, BufferId ids, std::int64_t ids_offset,
                                            BufferId updates, std::int64_t updates_offset,
                                            BufferId out, bool add, int threads) {
  return std::make_unique<ScatterKernel>(table, ids, ids_offset, updates, updates_offset, out, add,
                                         threads);
}

namespace {

class AddKernel final : public Kernel {
 public:
  AddKernel(BufferId from, BufferId out, std::int64_t elements, int threads)
      : from_(from),
        out_(out),
        elements_(elements),
        threads_(threads),
        add_(tile_kernel(TileOp::add)) {}

  void run(Addresses addresses) const override {
    constexpr std::int64_t worth_threads = 1 << 13;
    auto* out = reinterpret_cast<float*>(addresses[out_]);
    const auto* from = reinterpret_cast<const float*>(addresses[from_]);
#pragma omp parallel for num_threads(threads_) schedule(static, 1) if (elements_ >= worth_threads)
    for (int part = 0; part < threads_; ++part) {
      const std::int64_t first = elements_ * part / threads_;
      const std::int64_t last = elements_ * (part + 1) / threads_;
      const Lane lanes[] = {{out + first, 1}, {from + first, 1}};
      add_(out + first, lanes, last - first);
    }
  }

 private:
  BufferId from_;
  BufferId out_;
  std::int64_t elements_;
  int threads_;
  TileFn add_;
};

}  // namespace

std::unique_ptr<Kernel> make_add_kernel(BufferId from, BufferId out, std::int64_t elements,
                                        int threads) {
  return std::make_unique<AddKernel>(from, out, elements, threads);
}

}  // namespace trainward::cpu

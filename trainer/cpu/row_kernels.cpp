#include "trainer/cpu/row_kernels.hpp"

#include <algorithm>
#include <cstring>

namespace trainward::cpu {
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
    const auto* from = reinterpret_cast<const std::uint32_t*>(addresses[from_]) + from_offset_;
    const auto* ids = reinterpret_cast<const std::int32_t*>(addresses[ids_]) + ids_offset_;
    auto* out = reinterpret_cast<std::uint32_t*>(addresses[out_]);
    const auto bytes = static_cast<std::size_t>(table_.width) * element_bytes;
#pragma omp parallel for num_threads(threads_) schedule(static)
    for (std::int64_t i = 0; i < table_.ids; ++i) {
      const std::int64_t row = std::clamp<std::int64_t>(ids[i], 0, table_.rows - 1);
      std::memcpy(out + i * table_.width, from + row * table_.width, bytes);
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

}  // namespace trainward::cpu

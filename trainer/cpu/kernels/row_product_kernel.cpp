#include "trainer/cpu/kernels/row_product_kernel.hpp"

#include <array>

#include "trainer/cpu/kernels/tile_kernels.hpp"

namespace trainward::cpu {
namespace {

// Below, waking the threads takes longer than the work.
constexpr std::int64_t worth_sharing = std::int64_t{1} << 15;

class RowProductKernel final : public Kernel {
 public:
  RowProductKernel(const RowProduct& product, int threads)
      : product_(product), threads_(threads), sum_(tile_kernel(TileOp::row_product)) {}

  void run(Addresses addresses) const override {
    const RowProduct& p = product_;
    const auto* row = reinterpret_cast<const float*>(addresses[p.row]) + p.row_offset;
    const auto* matrix =
        reinterpret_cast<const std::uint16_t*>(addresses[p.matrix]) + p.matrix_offset;
    auto* out = reinterpret_cast<float*>(addresses[p.out]);
#pragma omp parallel for num_threads(threads_) \
    schedule(static) if (p.rows * p.columns > worth_sharing)
    for (std::int64_t j = 0; j < p.rows; ++j) {
      const std::array<Lane, 2> lanes{{{row, 1}, {matrix + j * p.columns, 1}}};
      float sum = 0;
      sum_(&sum, lanes.data(), p.columns);
      out[j] = p.add ? out[j] + sum : sum;
    }
  }

 private:
  RowProduct product_;
  int threads_;
  TileFn sum_;
};

}  // namespace

std::unique_ptr<Kernel> make_row_product_kernel(const RowProduct& product, int threads) {
  return std::make_unique<RowProductKernel>(product, threads);
}

}  // namespace trainward::cpu

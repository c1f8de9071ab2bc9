#include "trainer/cpu/add_kernel.hpp"

#include "trainer/cpu/tile_kernels.hpp"

namespace trainward::cpu {
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

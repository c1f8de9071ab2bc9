#include "trainer/cpu/kernels/dot_kernel.hpp"

#include "trainer/cpu/kernels/product.hpp"

namespace trainward::cpu {
namespace {

class DotKernel final : public Kernel {
 public:
  DotKernel(const Runtime::Library& library, const DotLayout& layout, const DotBuffers& buffers)
      : buffers_(buffers),
        product_(library, layout, buffers.element, buffers.add, buffers.bias.has_value()) {}

  [[nodiscard]] std::size_t scratch_bytes() const override { return product_.scratch_bytes(); }

  void run(Addresses addresses) const override {
    const auto at = [&](BufferId buffer, std::int64_t offset) {
      return addresses[buffer] + offset * static_cast<std::int64_t>(bytes_of(buffers_.element));
    };
    product_.run(at(buffers_.lhs, buffers_.lhs_offset), at(buffers_.rhs, buffers_.rhs_offset),
                 addresses[buffers_.out], scratch_bytes() == 0 ? nullptr : scratch(addresses),
                 buffers_.bias ? addresses[*buffers_.bias] : nullptr);
  }

 private:
  DotBuffers buffers_;
  Product product_;
};

}  // namespace

Result<std::unique_ptr<Kernel>> make_dot_kernel(const Runtime& runtime, const DotLayout& layout,
                                                const DotBuffers& buffers) {
  try {
    return std::make_unique<DotKernel>(runtime.library(), layout, buffers);
  } catch (const dnnl::error& error) {
    return fail(ErrorKind::permanent,
                fmt::format("oneDNN refuses a product of {}x{} by {}x{}: {}", layout.m, layout.k,
                            layout.k, layout.n, error.what()));
  }
}

}  // namespace trainward::cpu

#include "trainer/cpu/kernels/product.hpp"

#include <array>

#include "trainer/cpu/kernels/kernel.hpp"

namespace trainward::cpu {
namespace {

using dnnl::memory;

// Strides of axes of size 1 mean nothing to us, but the library wants them to look like a matrix.
memory::desc describe(const Shape& batch, const Shape& strides, Span rows, Span columns,
                      graph::Element element) {
  memory::dims sizes(batch.begin(), batch.end());
  memory::dims steps(strides.begin(), strides.end());
  if (columns.size == 1) columns.stride = rows.size == 1 || rows.stride > 1 ? 1 : rows.size;
  if (rows.size == 1) rows.stride = columns.size * columns.stride;
  sizes.insert(sizes.end(), {rows.size, columns.size});
  steps.insert(steps.end(), {rows.stride, columns.stride});
  const bool bf16 = element == graph::Element::bf16;
  return {sizes, bf16 ? memory::data_type::bf16 : memory::data_type::f32, steps};
}

void set(const memory& target, void* data) {
  (void)dnnl_memory_set_data_handle(target.get(), data);
}

}  // namespace

Product::Product(const Runtime::Library& library, const DotLayout& layout, graph::Element element,
                 bool add, bool bias)
    : stream_(library.stream) {
  const memory::desc lhs =
      describe(layout.batch, layout.lhs_batch, layout.lhs_m, layout.lhs_k, element);
  const memory::desc rhs =
      describe(layout.batch, layout.rhs_batch, layout.rhs_k, layout.rhs_n, element);
  const memory::desc out =
      describe(layout.batch, layout.out_batch, layout.out_m, layout.out_n, graph::Element::f32);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (add) {
    dnnl::post_ops then;
    then.append_sum(1.0F);
    attributes.set_post_ops(then);
  }
  const std::size_t axes = layout.batch.size();
  const memory::desc added = describe(Shape(axes, 1), Shape(axes, layout.n), {1, layout.n},
                                      {layout.n, 1}, graph::Element::f32);
  const auto plan =
      product_plan(library.engine, lhs, rhs, out, attributes, bias ? &added : nullptr);
  product_ = dnnl::matmul(plan);
  scratch_size_ = plan.scratchpad_desc().get_size();
  lhs_ = memory(lhs, library.engine, nullptr);
  rhs_ = memory(rhs, library.engine, nullptr);
  out_ = memory(out, library.engine, nullptr);
  if (bias) bias_ = memory(added, library.engine, nullptr);
  scratch_ = memory(plan.scratchpad_desc(), library.engine, nullptr);
}

void Product::run(void* lhs, void* rhs, void* out, void* scratch, void* bias) const {
  set(lhs_, lhs);
  set(rhs_, rhs);
  set(out_, out);
  if (scratch_size_ != 0) set(scratch_, scratch);
  // The C call, since the C++ one builds a vector each time. It cannot fail here: the arguments
  // are those the product was created for.
  std::array<dnnl_exec_arg_t, 5> arguments{{{DNNL_ARG_SRC, lhs_.get()},
                                            {DNNL_ARG_WEIGHTS, rhs_.get()},
                                            {DNNL_ARG_DST, out_.get()},
                                            {DNNL_ARG_SCRATCHPAD, scratch_.get()},
                                            {}}};
  int count = 4;
  if (bias_) {
    set(bias_, bias);
    arguments[4] = {DNNL_ARG_BIAS, bias_.get()};
    ++count;
  }
  (void)dnnl_primitive_execute(product_.get(), stream_.get(), count, arguments.data());
}

}  // namespace trainward::cpu

// One matrix product of oneDNN, created once for its sizes and strides; the result is f32.
//
// It runs with as many threads as were set when it was created. run() allocates nothing and is not
// for two threads at a time: it notes where its operands lie.
#pragma once

#include "trainer/cpu/runtime/dot_layout.hpp"
#include "trainer/cpu/runtime/runtime_library.hpp"

namespace trainward::cpu {

class Product {
 public:
  // `element`: of both operands. `add`: to what the result holds, instead of overwriting it.
  // `bias`: run() is given a row of f32, dense, that is added to each row of the result. Throws
  // dnnl::error when the library has no such product.
  Product(const Runtime::Library& library, const DotLayout& layout, graph::Element element,
          bool add, bool bias = false);

  // Of `scratch`, which may be null when this is 0.
  [[nodiscard]] std::size_t scratch_bytes() const { return scratch_size_; }
  void run(void* lhs, void* rhs, void* out, void* scratch, void* bias = nullptr) const;

 private:
  dnnl::stream stream_;
  dnnl::matmul product_;
  std::size_t scratch_size_ = 0;
  dnnl::memory lhs_, rhs_, out_, scratch_, bias_;
};

}  // namespace trainward::cpu

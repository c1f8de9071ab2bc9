// The part of Runtime that needs oneDNN's headers.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "trainer/cpu/runtime.hpp"

namespace trainward::cpu {

struct Runtime::Library {
  dnnl::engine engine;
  dnnl::stream stream;
};

// Throws dnnl::error when the library has no such product.
inline dnnl::matmul::primitive_desc product_plan(const dnnl::engine& engine,
                                                 const dnnl::memory::desc& lhs,
                                                 const dnnl::memory::desc& rhs,
                                                 const dnnl::memory::desc& out,
                                                 const dnnl::primitive_attr& attributes) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, lhs, rhs, out, attributes};
#else
  return {dnnl::matmul::desc(lhs, rhs, out), attributes, engine};
#endif
}

}  // namespace trainward::cpu

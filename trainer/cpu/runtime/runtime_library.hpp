// The part of Runtime that needs oneDNN's headers.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "trainer/cpu/runtime/runtime.hpp"

namespace trainward::cpu {

struct Runtime::Library {
  dnnl::engine engine;
  dnnl::stream stream;
};

// `bias`, may be null: one row that is added to each row of the result. Throws
// dnnl::error when the library has no such product.
inline dnnl::matmul::primitive_desc product_plan(const dnnl::engine& engine,
                                                 const dnnl::memory::desc& lhs,
                                                 const dnnl::memory::desc& rhs,
                                                 const dnnl::memory::desc& out,
                                                 const dnnl::primitive_attr& attributes,
                                                 const dnnl::memory::desc* bias = nullptr) {
#if DNNL_VERSION_MAJOR >= 3
  if (bias != nullptr) return {engine, lhs, rhs, *bias, out, attributes};
  return {engine, lhs, rhs, out, attributes};
#else
  if (bias != nullptr) return {dnnl::matmul::desc(lhs, rhs, *bias, out), attributes, engine};
  return {dnnl::matmul::desc(lhs, rhs, out), attributes, engine};
#endif
}

}  // namespace trainward::cpu

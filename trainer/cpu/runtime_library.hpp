// The part of Runtime that needs oneDNN's headers.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include "trainer/cpu/runtime.hpp"

namespace trainward::cpu {

struct Runtime::Library {
  dnnl::engine engine;
  dnnl::stream stream;
};

}  // namespace trainward::cpu

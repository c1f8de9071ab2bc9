// The values that live from a layer's forward to its backward, and the two ends of a gradient.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "common/base/error.hpp"
#include "trainer/cpu/runtime/memory.hpp"
#include "trainer/model/training/segments.hpp"

namespace trainward::trainer {

struct Activations {
  static std::size_t bytes(const Segments& segments, std::size_t layers);
  static Result<Activations> allocate(const Segments& segments, std::size_t layers);

  cpu::Memory memory;
  std::vector<std::byte*> x;                  // layers + 1: each block's input, and the last output
  std::vector<std::vector<std::byte*>> kept;  // per layer
  std::array<std::byte*, 2> dx{};
};

}  // namespace trainward::trainer

// How much memory a training step takes on the CPU, before any of it is taken.
//
// Everything is planned as make_cpu_model() plans it, programs included; only the memory itself is
// not asked for. Bytes, of one process. Errors: those of check_spec() and of compiling.
#pragma once

#include <cstdint>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/base_weights.hpp"

namespace trainward::trainer {

struct MemoryPlan {
  std::uint64_t weights = 0;  // that are trained, f32, and their copy in bf16 where one is kept
  std::uint64_t gradients = 0;
  std::uint64_t moments = 0;
  std::uint64_t frozen = 0;       // weights that are not trained, and tables: copied
  std::uint64_t mapped = 0;       // the same, looked at where the files lie: the page cache's
  std::uint64_t activations = 0;  // from a layer's forward to its backward
  std::uint64_t workspace = 0;    // of the largest program

  // What has to be in memory at the same time.
  [[nodiscard]] std::uint64_t peak() const {
    return weights + gradients + moments + frozen + mapped + activations + workspace;
  }
};

// `base`: nullptr where nothing is frozen.
Result<MemoryPlan> plan_cpu_memory(const TrainingSpec& spec, const BaseWeights* base);

}  // namespace trainward::trainer

// Makes a trainable model on the CPU, of whatever architecture.
//
// In: the sizes and rates, and the weights it begins with (nullptr: none), which must outlive it.
// Out: a model with freshly initialised parameters (a function of the seed and the parameter's name
// alone) and zero moments, ready for step() or restore(). All memory is taken here. Errors: usage,
// for sizes that cannot be (width not a multiple of heads, no layers, …).
#pragma once

#include <memory>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/base_weights.hpp"
#include "trainer/model/training/trainable.hpp"
#include "trainer/ranks/communicator.hpp"

namespace trainward::trainer {

Result<std::unique_ptr<Trainable>> make_cpu_model(const TrainingSpec& spec,
                                                  const BaseWeights* base = nullptr);

// One part of a step that spec.ranks processes share: step() takes this rank's sequences and sums
// loss and gradients with `peers`, which must outlive the model (parallel_model.hpp).
Result<std::unique_ptr<Trainable>> make_cpu_part(const TrainingSpec& spec, Communicator& peers);
Result<std::unique_ptr<Trainable>> make_cpu_part_from(const BaseWeights* base,
                                                      const TrainingSpec& spec,
                                                      Communicator& peers);

}  // namespace trainward::trainer

// The script of training: what a step, an evaluation and a resume do, on any backend.
#pragma once

#include <memory>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/state_views.hpp"
#include "trainer/model/training/step_executor.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

// `executor` borrows `state`. Parameters are taken from the base where it has them and drawn where
// there is no base (adapters always), unless restore() is to bring them (TrainingSpec::initialise).
// `spec`: of one process; its batches are those of each part.
Result<std::unique_ptr<Trainable>> make_stepper(const TrainingSpec& spec,
                                                std::unique_ptr<ModelState> state,
                                                std::unique_ptr<StepExecutor> executor,
                                                const BaseWeights* base);

}  // namespace trainward::trainer

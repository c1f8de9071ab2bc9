// The loss of a model of any architecture as one graph, from the same pieces that the segments of a
// training step are made of: what those must agree with.
#pragma once

#include "trainer/model/model_spec.hpp"
#include "whole_model.hpp"

namespace trainward::trainer {

// Inputs: "ids" and "targets", i32[batch, positions]; every position predicts its target.
// Parameters are those of the architecture, by name. Error usage for sizes that cannot be.
Result<ModelGraph> make_whole_step(const TrainingSpec& spec);

}  // namespace trainward::trainer

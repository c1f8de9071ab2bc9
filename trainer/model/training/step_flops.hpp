// How much arithmetic a training step is, for its model FLOPs utilization. Pure.
#pragma once

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Floating-point operations that the matrix products of one step of all ranks are, two for each
// multiplication with its addition: forward and backward, attention over all positions (not the
// half that a causal mask leaves), and nothing that is computed a second time to save memory. So
// they are counted by Chowdhery et al. (PaLM, 2022, appendix B), but taken from the step's own
// graphs: what is frozen has no gradient here either. Errors: those of make_segments().
Result<double> step_flops(TrainingSpec spec);

}  // namespace trainward::trainer

// GPT-2: learned positions, pre-LayerNorm blocks with biases and GELU, the head tied to the
// embedding. Names, shapes and start values of its tensors are those of the published model, whose
// dense weights are [in, out].
#pragma once

#include "trainer/model/architecture.hpp"

namespace trainward::trainer {

const Architecture& gpt2();

}  // namespace trainward::trainer

// AGILLM-3: pre-LayerNorm blocks, attention with a tuneable rank, ReLU; a head of its own, or tied.
#pragma once

#include "trainer/model/architecture.hpp"

namespace trainward::trainer {

const Architecture& agillm3();

}  // namespace trainward::trainer

// The shape a checkpoint that never was a PyTorch file takes as one: a skeleton (skeleton.hpp).
//
// In: what the checkpoint holds. Out: for AGILLM-3 names the dictionary its own tools load, with
// parameters and AdamW indices in the order of its modules and the default rates of its training;
// else {"model", "optimizer_state", "step", "tokens"}. `vocabulary`: rows to keep; 0: all. Pure.
#pragma once

#include <cstdint>

#include "checkpoint/checkpoint.hpp"
#include "common/base/json/json.hpp"

namespace trainward::checkpoint::pytorch {

json::value form_for(const TrainingState& state, const std::vector<TensorView>& model,
                     const std::vector<TensorView>& optimizer, std::int64_t vocabulary);

}  // namespace trainward::checkpoint::pytorch

// Two linear layers with a ReLU between, mean squared error: the smallest thing worth training.
#pragma once

#include "whole_model.hpp"

namespace trainward::trainer {

struct MlpSpec {
  std::int64_t batch = 1024;
  std::int64_t in = 512;
  std::int64_t hidden = 512;
  std::int64_t out = 512;
  graph::Precision precision = graph::Precision::f32;
};

// Inputs: "x" f32[batch, in], "target" f32[batch, out]. Parameters: "fc1.weight" [hidden, in],
// "fc1.bias", "fc2.weight" [out, hidden], "fc2.bias".
Result<ModelGraph> make_mlp(const MlpSpec& spec);

}  // namespace trainward::trainer

// GPT-2: learned positions, pre-LayerNorm blocks with biases and GELU, head tied to the embedding.
#pragma once

#include "trainer/model/whole_model.hpp"

namespace trainward::trainer {

struct Gpt2Spec {
  std::int64_t batch = 16;
  std::int64_t positions = 256;
  std::int64_t vocabulary = 65;
  std::int64_t width = 384;
  std::int64_t layers = 6;
  std::int64_t heads = 6;
  graph::Precision precision = graph::Precision::f32;
};

// Inputs: "ids" and "targets", i32[batch, positions]. Parameters are named as in GPT-2
// ("wte.weight", "h.0.attn.c_attn.weight", …); weights are [out, in]. Error usage when the heads do
// not divide the width.
Result<ModelGraph> make_gpt2(const Gpt2Spec& spec);

}  // namespace trainward::trainer

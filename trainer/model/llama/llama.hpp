// The Llama family: Llama 1 to 3.2, TinyLlama, SmolLM, Mistral, Qwen2 and Qwen3 (dense), as one
// decoder with options (LlamaSpec); with adapters or without (LoraSpec).
//
// Names and shapes are those of Hugging Face's files: "model.layers.0.self_attn.q_proj.weight"
// [out, in]. What a config.json means: config.hpp.
#pragma once

#include "trainer/model/architecture.hpp"

namespace trainward::trainer {

const Architecture& llama();

// "self_attn.q_proj": where a linear layer stands in its block.
std::string_view place_of(Linear which);
inline constexpr std::size_t linears = 7;

}  // namespace trainward::trainer

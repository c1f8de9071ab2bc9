// The models whose training steps are measured, the same in each benchmark: the quick start's model
// (micro_3x, 8 sequences of 128 bytes), the MLP of 1024 rows by 512, a GPT of width 384 with 6
// layers (16 sequences of 256), `large` with a vocabulary of 128,815, and the shape of SmolLM2-135M
// (4 sequences of 256), trained whole or by adapters of rank 16 on all linear layers.
#pragma once

#include <vector>

#include "mlp.hpp"
#include "trainer/model/architecture.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "trainer/model/llama/llama_spec.hpp"

namespace trainward::trainer {

inline TrainingSpec micro_3x_case(int threads) {
  TrainingSpec spec;
  spec.threads = threads;
  return spec;
}

inline TrainingSpec large_case(std::int64_t block_size, int threads) {
  TrainingSpec spec = micro_3x_case(threads);
  spec.model = {1024, 24, 16, 128, 128'815};
  spec.batch_size = 1;
  spec.block_size = block_size;
  return spec;
}

inline std::vector<std::int32_t> tokens_case(std::int64_t count, std::int32_t vocabulary) {
  std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = static_cast<std::int32_t>(i * 31 % static_cast<std::size_t>(vocabulary));
  }
  return ids;
}

// What both of the MLP's inputs are made of.
inline std::vector<float> mlp_rows_case() {
  const MlpSpec spec;
  return std::vector<float>(static_cast<std::size_t>(spec.batch * spec.in), 0.5F);
}

inline TrainingSpec gpt_case(int threads) {
  TrainingSpec spec = micro_3x_case(threads);
  spec.model = {384, 6, 6, 64, 65};
  spec.model.architecture = find_architecture("gpt2").value();
  spec.model.positions = 256;
  spec.model.tied = true;
  spec.batch_size = 16;
  spec.block_size = 256;
  return spec;
}

inline TrainingSpec smollm2_case(int threads, bool lora) {
  TrainingSpec spec = micro_3x_case(threads);
  ModelSpec& model = spec.model;
  model = {.width = 576, .layers = 30, .heads = 9, .rank = 64, .vocabulary = 49'152, .tied = true};
  model.architecture = find_architecture("llama").value();
  llama_part(model).inner = 1536;
  llama_part(model).kv_heads = 3;
  model.own_head_width = 64;
  llama_part(model).rope.theta = 100'000;
  if (lora) model.lora = {.rank = 16, .alpha = 32, .targets = 127};
  spec.batch_size = 4;
  spec.block_size = 256;
  return spec;
}

}  // namespace trainward::trainer

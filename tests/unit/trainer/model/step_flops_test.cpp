// The arithmetic of a step, against the formulas of the literature.
#include "trainer/model/training/step_flops.hpp"

#include <gtest/gtest.h>

#include "model/tiny.hpp"

namespace trainward::trainer {
namespace {

// Of a GPT-2: 6 for each weight that multiplies and token, and 12 · width · positions a layer and
// token for attention (Chowdhery et al. 2022, appendix B). The positions that are looked up, biases
// and norms multiply nothing; the tied embedding is the head.
double by_formula(const TrainingSpec& spec) {
  const auto width = static_cast<double>(spec.model.width);
  const auto layers = static_cast<double>(spec.model.layers);
  const double weights =
      layers * 12 * width * width + width * static_cast<double>(spec.model.padded_vocabulary());
  const auto positions = static_cast<double>(spec.block_size);
  const auto tokens = static_cast<double>(spec.sequences_per_step()) * positions;
  return tokens * (6 * weights + 12 * layers * width * positions);
}

TEST(StepFlops, OfAGpt2AreThoseOfTheFormula) {
  TrainingSpec spec;
  spec.model = test::as_gpt2(preset("gpt2").value(), 1024);
  spec.batch_size = 4;
  spec.block_size = 1024;
  spec.accumulation = 3;
  const double flops = step_flops(spec).value();
  EXPECT_NEAR(flops / by_formula(spec), 1, 0.002);  // the last position predicts nothing
  // However it is computed.
  TrainingSpec other = spec;
  other.recompute = true;
  other.fused_attention = true;
  other.precision = graph::Precision::bf16;
  EXPECT_EQ(step_flops(other).value(), flops);
  other.batch_size = 12;
  other.accumulation = 1;
  EXPECT_EQ(step_flops(other).value(), flops);
}

// Frozen weights have no gradient: two products of three are left.
TEST(StepFlops, OfAdaptersAreThoseOfForwardAndOfWhatIsTrained) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::as_llama(spec.model);
  spec.block_size = 32;
  const double whole = step_flops(spec).value();
  spec.model.lora = {.rank = 1, .targets = 1};
  const double adapters = step_flops(spec).value();
  EXPECT_LT(adapters, 0.8 * whole);
  EXPECT_GT(adapters, 0.5 * whole);
}

}  // namespace
}  // namespace trainward::trainer

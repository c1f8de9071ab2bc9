// Training steps: same seed same bits, learning, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/tiny.hpp"

namespace trainward::trainer {
namespace {

using ::testing::HasSubstr;

class StepIn : public ::testing::TestWithParam<graph::Precision> {};
INSTANTIATE_TEST_SUITE_P(, StepIn, ::testing::Values(graph::Precision::f32, graph::Precision::bf16),
                         [](const auto& test) {
                           return test.param == graph::Precision::bf16 ? "bf16" : "f32";
                         });

TEST_P(StepIn, SameSeedSameBits) {
  TrainingSpec spec = test::tiny_spec();
  spec.precision = GetParam();
  spec.model = {.width = 64, .layers = 2, .heads = 4, .rank = 48, .vocabulary = 257};
  spec.block_size = 64;  // large enough for every loop to be threaded
  const auto a = test::make(spec);
  const auto b = test::make(spec);
  const StepResult last_a = test::train(*a, spec, 1, 4);
  const StepResult last_b = test::train(*b, spec, 1, 4);
  EXPECT_EQ(last_a.loss, last_b.loss);
  EXPECT_EQ(last_a.grad_norm, last_b.grad_norm);
  EXPECT_TRUE(test::same_bits(test::copy_of(a->model_state()), test::copy_of(b->model_state())));
  spec.seed += 1;
  EXPECT_NE(test::train(*test::make(spec), spec, 1, 4).loss, last_a.loss);
}

TEST(Step, RecomputingChangesMemoryNotTheResult) {
  TrainingSpec spec = test::tiny_spec();
  const auto keeping = test::make(spec);
  const StepResult kept = test::train(*keeping, spec, 1, 5);
  spec.recompute = true;
  const auto recomputing = test::make(spec);
  const StepResult recomputed = test::train(*recomputing, spec, 1, 5);
  EXPECT_NEAR(kept.loss, recomputed.loss, 1e-5);
  EXPECT_LT(recomputing->arena_bytes(), keeping->arena_bytes());
}

// What is kept as bf16 is what would be rounded again.
TEST(Step, RecomputingInBf16RoundsTheSameValues) {
  TrainingSpec spec = test::tiny_spec();
  spec.precision = graph::Precision::bf16;
  const auto keeping = test::make(spec);
  spec.recompute = true;
  const auto recomputing = test::make(spec);
  for (std::uint64_t step = 1; step <= 5; ++step) {
    EXPECT_NEAR(test::train(*keeping, spec, step, step).loss /
                    test::train(*recomputing, spec, step, step).loss,
                1, 1e-6);
  }
}

TEST_P(StepIn, EvaluatingIsAStepsLossWithoutTheStep) {
  TrainingSpec spec = test::tiny_spec();
  spec.precision = GetParam();
  const auto model = test::make(spec);
  test::train(*model, spec, 1, 3);
  const auto before = test::copy_of(model->model_state());
  const auto ids = test::tokens(spec, 7);
  const double evaluated = model->evaluate(ids).value();
  EXPECT_TRUE(test::same_bits(before, test::copy_of(model->model_state())));
  EXPECT_NEAR(model->step(ids)->loss / evaluated, 1, 1e-6);
  // One batch, whatever makes a step; nothing is dropped, so it is the same each time.
  spec.accumulation = 3;
  spec.dropout = 0.5;
  const auto other = test::make(spec);
  EXPECT_EQ(other->evaluate(ids).value(), other->evaluate(ids).value());
  EXPECT_FALSE(other->evaluate(test::tokens(spec, 7)));
}

TEST_P(StepIn, LearnsAPattern) {
  TrainingSpec spec = test::tiny_spec();
  spec.precision = GetParam();
  spec.learning_rate = spec.head_learning_rate = 1e-2;
  const auto model = test::make(spec);
  std::vector<std::int32_t> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * i % 7);
  const double first = model->step(ids)->loss;
  double last = first;
  for (int i = 0; i < 60; ++i) last = model->step(ids)->loss;
  EXPECT_GT(first, 3);
  EXPECT_LT(last, 0.3);
}

TEST(Step, RefusesWrongTokens) {
  const TrainingSpec spec = test::tiny_spec();
  const auto model = test::make(spec);
  EXPECT_THAT(model->step(std::vector<std::int32_t>(5)).error().what, HasSubstr("takes 24 tokens"));
  std::vector<std::int32_t> ids = test::tokens(spec, 1);
  ids[7] = 33;  // a padding row of the table, but no token
  const Result<StepResult> result = model->step(ids);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().what, "token 33 at position 7 is outside the vocabulary of 33");
}

TEST(Step, StopsBeforeANumberThatIsNoneSpreads) {
  const TrainingSpec spec = test::tiny_spec();
  const auto model = test::make(spec);
  std::vector<float> poison(16, 0);
  poison[3] = std::numeric_limits<float>::quiet_NaN();
  std::vector<checkpoint::TensorView> views = model->model_state();
  for (checkpoint::TensorView& view : views) {
    if (view.info.name == "core.ln.bias") view.bytes = std::as_bytes(std::span(poison));
  }
  ASSERT_TRUE(model->restore(test::fill_from(views, model->optimizer_state()), 10));
  const test::State before = test::copy_of(model->model_state());
  const Result<StepResult> result = model->step(test::tokens(spec, 1));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().what, HasSubstr("step 11: the loss is nan"));
  EXPECT_TRUE(test::same_bits(before, test::copy_of(model->model_state())));
}

TEST(Spec, NamesWhatCannotBe) {
  const auto refused = [](auto change) {
    TrainingSpec spec = test::tiny_spec();
    change(spec);
    const auto model = make_cpu_model(spec);
    EXPECT_FALSE(model);
    return model ? std::string() : model.error().message();
  };
  EXPECT_THAT(refused([](TrainingSpec& s) { s.model.heads = 3; }), HasSubstr("3 heads"));
  EXPECT_THAT(refused([](TrainingSpec& s) { s.model.layers = 0; }),
              HasSubstr("layers cannot be 0"));
  EXPECT_THAT(refused([](TrainingSpec& s) { s.block_size = 1; }), HasSubstr("at least 2"));
  EXPECT_THAT(refused([](TrainingSpec& s) { s.beta2 = 1; }), HasSubstr("beta2"));
  EXPECT_THAT(refused([](TrainingSpec& s) { s.learning_rate = -1; }), HasSubstr("learning rate"));
  EXPECT_THAT(refused([](TrainingSpec& s) { s.threads = 0; }), HasSubstr("threads"));
}

}  // namespace
}  // namespace trainward::trainer

// Several small batches make one step as one large batch would.
#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny.hpp"

namespace trainward::trainer {
namespace {

TEST(Accumulation, EqualsOneLargeBatch) {
  TrainingSpec large = test::tiny_spec();
  large.batch_size = 6;
  TrainingSpec small = large;
  small.batch_size = 2;
  small.accumulation = 3;
  for (const bool tied : {false, true}) {
    large.model.tied = small.model.tied = tied;
    const auto a = test::make(large);
    const auto b = test::make(small);
    for (std::uint64_t step = 1; step <= 8; ++step) {
      const StepResult at_once = test::train(*a, large, step, step);
      const StepResult in_parts = test::train(*b, small, step, step);
      EXPECT_NEAR(in_parts.loss / at_once.loss, 1, 1e-5) << step;
      EXPECT_NEAR(in_parts.grad_norm / at_once.grad_norm, 1, 1e-4) << step;
    }
    EXPECT_LT(b->arena_bytes(), a->arena_bytes());
  }
}

TEST(Accumulation, RefusesTheTokensOfOneBatch) {
  TrainingSpec spec = test::tiny_spec();
  spec.accumulation = 2;
  const auto model = test::make(spec);
  EXPECT_FALSE(model->step(std::vector<std::int32_t>(24)));
  EXPECT_TRUE(model->step(std::vector<std::int32_t>(48)));
}

TEST(Tied, TheHeadHasNoParametersOfItsOwn) {
  TrainingSpec spec = test::tiny_spec();
  const auto untied = test::make(spec);
  spec.model.tied = true;
  const auto tied = test::make(spec);
  EXPECT_EQ(untied->parameter_count() - tied->parameter_count(), 33 * 16 + 33);
  for (const auto& [name, values] : test::copy_of(tied->model_state())) {
    EXPECT_FALSE(name.starts_with("ar.")) << name;
  }
  std::vector<std::int32_t> ids(24);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * i % 7);
  const double first = tied->step(ids)->loss;
  double last = first;
  for (int i = 0; i < 60; ++i) last = tied->step(ids)->loss;
  EXPECT_LT(last, first / 4);
}

}  // namespace
}  // namespace trainward::trainer

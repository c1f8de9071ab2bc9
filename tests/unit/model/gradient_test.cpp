// The gradient of a whole training step against central differences of the loss in double
// precision.
//
// The step's gradients are read off the first moment after one step: exp_avg = (1 - beta1) *
// gradient. The loss in double precision comes from the reference interpreter, run over the forward
// segments.
#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/segments.hpp"

namespace trainward::trainer {
namespace {

using graph::test::Numbers;

TrainingSpec probe_spec() {
  TrainingSpec spec = test::tiny_spec();
  spec.model = {.width = 8, .layers = 2, .heads = 2, .rank = 6, .vocabulary = 11};
  spec.block_size = 6;
  spec.gradient_clip = 0;
  spec.beta1 = 0.5;
  return spec;
}

// Parameters larger than at the start, so that every part of the model matters.
test::State stirred(const TrainingSpec& spec) {
  graph::test::Draw draw(99);
  test::State state = test::copy_of(test::make(spec)->model_state());
  for (auto& [name, values] : state) {
    for (float& value : values) value += static_cast<float>(draw.number(-0.3, 0.3));
  }
  return state;
}

double reference_loss(const TrainingSpec& spec, const Segments& segments,
                      const std::map<std::string, Numbers>& at,
                      const std::vector<std::int32_t>& tokens) {
  const ParameterTable table = make_parameter_table(spec.model);
  const Numbers ids(tokens.begin(), tokens.end());
  const auto with = [&](std::vector<Numbers> inputs, std::size_t first, std::size_t count) {
    for (std::size_t i = first; i < first + count; ++i) {
      inputs.push_back(at.at(table.infos[i].name));
    }
    return inputs;
  };
  Numbers x = graph::test::interpret(segments.embed, with({ids}, table.embedding(), 1))[0];
  for (std::int64_t layer = 0; layer < spec.model.layers; ++layer) {
    const std::size_t first = table.block(static_cast<std::size_t>(layer));
    x = graph::test::interpret(segments.block_forward, with({x}, first, block_parameters))[0];
  }
  return graph::test::interpret(segments.head, with({ids, x}, table.head(), head_parameters))[0][0];
}

class ModelGradient : public ::testing::TestWithParam<bool> {};

TEST_P(ModelGradient, EqualsFiniteDifferences) {
  TrainingSpec spec = probe_spec();
  spec.recompute = GetParam();
  const std::vector<std::int32_t> tokens = test::tokens(spec, 1);
  const test::State start = stirred(spec);
  const auto model = test::make(spec);
  std::vector<checkpoint::TensorView> views = model->model_state();
  for (checkpoint::TensorView& view : views) {
    view.bytes = std::as_bytes(std::span(start.at(view.info.name)));
  }
  ASSERT_TRUE(model->restore(test::fill_from(views, model->optimizer_state()), 0));
  const Result<StepResult> result = model->step(tokens);
  ASSERT_TRUE(result);
  const test::State moments = test::copy_of(model->optimizer_state());

  const Segments segments = *make_segments(spec.model, spec.batch_size, spec.block_size, true);
  std::map<std::string, Numbers> at;
  for (const auto& [name, values] : start) at[name] = Numbers(values.begin(), values.end());
  EXPECT_NEAR(result->loss, reference_loss(spec, segments, at, tokens), 2e-6);

  double squares = 0;
  graph::test::Draw draw(5);
  for (const auto& [name, values] : start) {
    const std::vector<float>& mean = moments.at(name + ".exp_avg");
    for (const double m : mean) squares += m * m * 4;
    // The slope along a random direction: one number that every element of the gradient enters.
    Numbers direction(values.size());
    for (double& x : direction) x = draw.number(-1, 1);
    double expected = 0;
    for (std::size_t i = 0; i < mean.size(); ++i) expected += 2.0 * mean[i] * direction[i];
    const auto loss_at = [&](double shift) {
      std::map<std::string, Numbers> moved = at;
      for (std::size_t i = 0; i < direction.size(); ++i) moved[name][i] += shift * direction[i];
      return reference_loss(spec, segments, moved, tokens);
    };
    constexpr double h = 1e-6;
    const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
    EXPECT_NEAR(expected, slope, 1e-5 * (1 + std::abs(slope))) << name;
  }
  EXPECT_NEAR(result->grad_norm, std::sqrt(squares), 1e-5);
}
INSTANTIATE_TEST_SUITE_P(KeepingOrRecomputing, ModelGradient, ::testing::Bool());

}  // namespace
}  // namespace trainward::trainer

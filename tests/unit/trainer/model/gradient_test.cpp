// The gradient of a whole training step against central differences of the loss in double
// precision.
//
// The step's gradients are read off the first moment after one step: exp_avg = (1 - beta1) *
// gradient. The loss in double precision comes from the reference interpreter, run over the forward
// segments.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "model/tiny.hpp"
#include "trainer/model/parameters.hpp"
#include "trainer/model/training/segments.hpp"
#include "trainer/model/training/training_random.hpp"

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

// The loss of one step, all its batches together.
double reference_loss(const TrainingSpec& spec, const Segments& segments,
                      const std::map<std::string, Numbers>& at,
                      const std::vector<std::int32_t>& tokens) {
  const ParameterTable table = make_parameter_table(spec.model, spec.block_size);
  const auto with = [&](std::vector<Numbers> inputs, const Places& which) {
    for (const std::size_t i : which) inputs.push_back(at.at(table.infos[i].name));
    return inputs;
  };
  const auto layers = static_cast<std::uint64_t>(spec.model.layers);
  const auto accumulation = static_cast<std::uint64_t>(spec.accumulation);
  const std::size_t size = tokens.size() / accumulation;
  double loss = 0;
  for (std::uint64_t batch = 0; batch < accumulation; ++batch) {
    const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(batch * size);
    const Numbers ids(begin, begin + static_cast<std::ptrdiff_t>(size));
    Numbers x = graph::test::interpret(segments.embed, with({ids}, table.embedding))[0];
    for (std::uint64_t layer = 0; layer < layers; ++layer) {
      std::vector<Numbers> inputs{x};
      if (spec.dropout > 0) {
        const std::uint64_t bits = RandomStream(spec.seed, "dropout").bits(layer);
        inputs.push_back({static_cast<double>(static_cast<std::int32_t>(bits)),
                          static_cast<double>(static_cast<std::int32_t>(bits >> 32)),
                          static_cast<double>(batch * x.size())});
      }
      x = graph::test::interpret(segments.block_forward, with(inputs, table.block(layer)))[0];
    }
    loss += graph::test::interpret(segments.head, with({ids, x}, table.head))[0][0];
  }
  return loss / static_cast<double>(accumulation);
}

struct Variant {
  const char* name;
  void (*apply)(TrainingSpec&);
};
void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

// With more positions than a sequence has.
void as_gpt2(TrainingSpec& spec) { spec.model = test::as_gpt2(spec.model, spec.block_size + 3); }

constexpr std::array<Variant, 10> variants{{
    {"Keeping", [](TrainingSpec&) {}},
    {"Recomputing", [](TrainingSpec& spec) { spec.recompute = true; }},
    {"Tied", [](TrainingSpec& spec) { spec.model.tied = true; }},
    {"Smoothed", [](TrainingSpec& spec) { spec.label_smoothing = 0.1; }},
    {"Dropping", [](TrainingSpec& spec) { spec.dropout = 0.3; }},
    {"Accumulating", [](TrainingSpec& spec) { spec.accumulation = 3; }},
    {"Everything",
     [](TrainingSpec& spec) {
       spec.recompute = spec.model.tied = true;
       spec.label_smoothing = spec.dropout = 0.2;
       spec.accumulation = 2;
     }},
    {"OfGpt2", as_gpt2},
    {"OfGpt2Accumulating",
     [](TrainingSpec& spec) {
       as_gpt2(spec);
       spec.accumulation = 3;
     }},
    {"OfGpt2Everything",
     [](TrainingSpec& spec) {
       as_gpt2(spec);
       spec.recompute = true;
       spec.label_smoothing = spec.dropout = 0.2;
       spec.accumulation = 2;
     }},
}};

class ModelGradient : public ::testing::TestWithParam<Variant> {};

TEST_P(ModelGradient, EqualsFiniteDifferences) {
  TrainingSpec spec = probe_spec();
  GetParam().apply(spec);
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

  TrainingSpec recomputing = spec;
  recomputing.recompute = true;
  const Segments segments = *make_segments(recomputing);
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
INSTANTIATE_TEST_SUITE_P(Variants, ModelGradient, ::testing::ValuesIn(variants),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace trainward::trainer

// First values: their distributions, their independence of everything but seed and name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/tiny.hpp"
#include "trainer/model/training/initialise.hpp"

namespace trainward::trainer {
namespace {

ParameterInfo info(std::string name, graph::Shape shape, Initial initial, std::int64_t fan_in = 0) {
  ParameterInfo result{std::move(name), std::move(shape), initial, fan_in};
  result.live_rows = result.shape[0];
  return result;
}

std::vector<float> values_of(const ParameterInfo& parameter, std::uint64_t seed) {
  std::vector<float> values(parameter.size());
  initialise(parameter, seed, values);
  return values;
}

TEST(Initial, NormalHasMeanZeroAndDeviationOne) {
  const std::vector<float> values = values_of(info("emb", {1000, 100}, Initial::normal), 1);
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  for (const double x : values) {
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  const auto n = static_cast<double>(values.size());
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(squares / n, 1, 0.015);
  EXPECT_NEAR(fourth / n, 3, 0.1);
}

TEST(Initial, UniformFillsItsBounds) {
  const std::vector<float> values = values_of(info("w", {100, 64}, Initial::uniform, 64), 1);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_NEAR(*low, -0.125, 1e-3);
  EXPECT_NEAR(*high, 0.125, 1e-3);
}

TEST(Initial, OrthogonalHasOrthonormalRowsOrColumns) {
  for (const auto& [rows, columns] : {std::pair{4, 12}, std::pair{12, 4}, std::pair{5, 5}}) {
    const std::vector<float> u = values_of(info("U", {rows, columns}, Initial::orthogonal), 3);
    const bool wide = rows <= columns;
    const int vectors = wide ? rows : columns;
    const int length = wide ? columns : rows;
    for (int i = 0; i < vectors; ++i) {
      for (int j = 0; j < vectors; ++j) {
        double product = 0;
        for (int k = 0; k < length; ++k) {
          const auto at = [&](int v) {
            return static_cast<double>(
                u[static_cast<std::size_t>(wide ? v * columns + k : k * columns + v)]);
          };
          product += at(i) * at(j);
        }
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-6);
      }
    }
  }
}

TEST(Initial, SeedAndNameDecide) {
  const auto a = values_of(info("a", {8, 8}, Initial::normal), 1);
  EXPECT_EQ(a, values_of(info("a", {8, 8}, Initial::normal), 1));
  EXPECT_NE(a, values_of(info("a", {8, 8}, Initial::normal), 2));
  EXPECT_NE(a, values_of(info("b", {8, 8}, Initial::normal), 1));
}

// The generator's bits are part of what a seed means; they must not change from release to release.
TEST(Initial, KnownValues) {
  const auto a = values_of(info("core.emb.weight", {1, 4}, Initial::normal), 1234);
  // Computed apart from this program, by SplitMix64 and an exact inverse normal.
  const std::vector<float> known{0.562499347F, -1.82696734F, -0.139458094F, -0.714253816F};
  EXPECT_THAT(a, ::testing::Pointwise(::testing::FloatNear(1e-6F), known));
}

TEST(Initial, StateHasTheNamesAndShapesOfTheCheckpoints) {
  const auto model = test::make(test::tiny_spec());
  std::map<std::string, std::vector<std::int64_t>> shapes;
  for (const auto& view : model->model_state()) shapes[view.info.name] = view.info.shape;
  EXPECT_EQ(shapes.size(), 1U + 2 * 13 + 4);
  using Shape = std::vector<std::int64_t>;
  EXPECT_EQ(shapes.at("core.emb.weight"), (Shape{64, 16}));
  EXPECT_EQ(shapes.at("core.blocks.1.mha.U"), (Shape{8, 12}));
  EXPECT_EQ(shapes.at("core.blocks.0.mha.proj.weight"), (Shape{16, 16}));
  EXPECT_EQ(shapes.at("core.blocks.1.ff.0.weight"), (Shape{64, 16}));
  EXPECT_EQ(shapes.at("core.blocks.1.ff.2.bias"), (Shape{16}));
  EXPECT_EQ(shapes.at("core.ln.bias"), (Shape{16}));
  EXPECT_EQ(shapes.at("ar.proj.bias"), (Shape{64}));
  // Counted without the padding rows.
  const std::int64_t block = 4 * 16 + 4 * 256 + 8 * 12 + 2 * 64 * 16 + 64 + 16;
  EXPECT_EQ(model->parameter_count(), 33 * 16 + 2 * block + 2 * 16 + 33 * 16 + 33);
}

TEST(Initial, OfGpt2AsItWasPublished) {
  TrainingSpec spec = test::tiny_spec();
  spec.model = test::as_gpt2({.width = 64, .layers = 8, .heads = 2, .vocabulary = 100}, 40);
  const auto state = test::copy_of(test::make(spec)->model_state());
  const auto deviation = [&](const std::string& name, std::size_t live) {
    double squares = 0;
    const std::vector<float>& values = state.at(name);
    for (std::size_t i = 0; i < live; ++i) squares += static_cast<double>(values[i] * values[i]);
    return std::sqrt(squares / static_cast<double>(live));
  };
  EXPECT_EQ(state.size(), 2U + 8 * 12 + 2);
  EXPECT_NEAR(deviation("wte.weight", 100 * 64), 0.02, 0.001);
  EXPECT_NEAR(deviation("wpe.weight", 40 * 64), 0.02, 0.001);
  EXPECT_NEAR(deviation("h.0.attn.c_attn.weight", 64 * 192), 0.02, 0.001);
  EXPECT_NEAR(deviation("h.7.mlp.c_fc.weight", 64 * 256), 0.02, 0.001);
  // Both layers that add to the residual stream, of eight blocks: 0.02 / sqrt(2 * 8).
  EXPECT_NEAR(deviation("h.3.attn.c_proj.weight", 64 * 64), 0.005, 0.0003);
  EXPECT_NEAR(deviation("h.3.mlp.c_proj.weight", 256 * 64), 0.005, 0.0003);
  EXPECT_THAT(state.at("h.3.mlp.c_proj.bias"), ::testing::Each(0));
  EXPECT_THAT(state.at("h.5.ln_2.weight"), ::testing::Each(1));
}

TEST(Initial, LossStartsNearThatOfAUniformGuess) {
  TrainingSpec spec;
  spec.batch_size = 2;
  const double loss = test::train(*test::make(spec), spec, 1, 1).loss;
  EXPECT_GT(loss, std::log(257.0));
  EXPECT_LT(loss, 5.9);
}

}  // namespace
}  // namespace trainward::trainer

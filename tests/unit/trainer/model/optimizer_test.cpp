// AdamW against the textbook in double precision, and its independence of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "common/base/bf16.hpp"
#include "graph/reference.hpp"
#include "sgd.hpp"
#include "trainer/optim/adamw.hpp"

namespace trainward::optim {
namespace {

struct Arrays {
  std::vector<float> p, g, m, v;
  explicit Arrays(std::size_t n) : p(n), g(n), m(n), v(n) {
    graph::test::Draw draw(1);
    for (float& x : p) x = static_cast<float>(draw.number(-1, 1));
  }
  void draw_gradient(std::uint64_t seed) {
    graph::test::Draw draw(seed);
    for (float& x : g) x = static_cast<float>(draw.number(-1, 1));
  }
  FlatState state() { return {p, g, m, v}; }
};

TEST(Schedule, RisesThenStaysOrFalls) {
  const Schedule constant{.warmup_steps = 4};
  EXPECT_EQ(rate_factor(constant, 1), 0.25);
  EXPECT_EQ(rate_factor(constant, 4), 1);
  EXPECT_EQ(rate_factor(constant, 1'000'000), 1);
  const Schedule cosine{.shape = Schedule::Shape::cosine,
                        .warmup_steps = 10,
                        .total_steps = 110,
                        .final_share = 0.2,
                        .from_one = true};
  EXPECT_EQ(rate_factor(cosine, 5), 0.5);
  EXPECT_EQ(rate_factor(cosine, 10), 1);
  EXPECT_NEAR(rate_factor(cosine, 60), 0.6, 1e-12);
  EXPECT_NEAR(rate_factor(cosine, 110), 0.2, 1e-12);
  EXPECT_NEAR(rate_factor(cosine, 1000), 0.2, 1e-12);
  for (std::int64_t step = 10; step < 120; ++step) {
    EXPECT_GE(rate_factor(cosine, step), rate_factor(cosine, step + 1));
  }
  // A warm-up as long as the run, or none at all.
  EXPECT_EQ(rate_factor({Schedule::Shape::cosine, 9, 9, 0.1, 0, true}, 9), 0.1);
  EXPECT_EQ(rate_factor({Schedule::Shape::cosine, 0, 0, 0.1, 0, true}, 1), 0.1);
}

// get_linear_schedule_with_warmup and get_cosine_schedule_with_warmup of transformers: their factor
// of step 0 is that of the first step here.
TEST(Schedule, FallsAsHuggingFacesDo) {
  constexpr std::int64_t total = 15;
  for (const std::int64_t warmup : {0, 1, 4}) {
    const Schedule linear{Schedule::Shape::linear, warmup, total, 0};
    const Schedule cosine{Schedule::Shape::cosine, warmup, total, 0};
    for (std::int64_t step = 0; step < total; ++step) {
      const auto at = static_cast<double>(step);
      const double way = (at - static_cast<double>(warmup)) / static_cast<double>(total - warmup);
      const bool rises = step < warmup;
      EXPECT_DOUBLE_EQ(rate_factor(linear, step + 1),
                       rises ? at / static_cast<double>(warmup) : 1 - way);
      EXPECT_DOUBLE_EQ(
          rate_factor(cosine, step + 1),
          rises ? at / static_cast<double>(warmup) : 0.5 * (1 + std::cos(std::numbers::pi * way)));
    }
    EXPECT_GT(rate_factor(linear, total), 0) << "the last step changes something";
  }
}

TEST(AdamW, FollowsTheFormulaInEachGroup) {
  const AdamWOptions options{
      .weight_decay = 0.1, .gradient_clip = 2, .schedule = {.warmup_steps = 3}};
  constexpr std::size_t n = 1000;
  Arrays arrays(n);
  AdamW optimizer(options, {{0, 400, 1e-2}, {400, n, 3e-3}}, n, 2);
  std::vector<double> p(arrays.p.begin(), arrays.p.end());
  std::vector<double> m(n);
  std::vector<double> v(n);
  for (std::int64_t t = 1; t <= 6; ++t) {
    arrays.draw_gradient(static_cast<std::uint64_t>(t) + 10);
    double squares = 0;
    for (const double g : arrays.g) squares += g * g;
    optimizer.add_to_norm(arrays.g);
    EXPECT_NEAR(optimizer.norm(), std::sqrt(squares), 1e-9 * std::sqrt(squares));
    const double clip = std::min(1.0, 2 / (std::sqrt(squares) + 1e-6));
    optimizer.step(arrays.state(), t);
    EXPECT_EQ(optimizer.norm(), 0);
    for (std::size_t i = 0; i < n; ++i) {
      const double rate = (i < 400 ? 1e-2 : 3e-3) * std::min(1.0, static_cast<double>(t) / 3);
      const double g = arrays.g[i] * clip;
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      const double m_hat = m[i] / (1 - std::pow(0.9, t));
      const double v_hat = v[i] / (1 - std::pow(0.999, t));
      p[i] = p[i] * (1 - rate * 0.1) - rate * m_hat / (std::sqrt(v_hat) + 1e-8);
      ASSERT_NEAR(arrays.p[i], p[i], 2e-5) << "element " << i << " step " << t;
    }
  }
}

TEST(AdamW, ClippingTurnsOffAtZeroAndLeavesSmallGradientsAlone) {
  Arrays clipped(64);
  Arrays free(64);
  clipped.draw_gradient(2);
  for (float& g : clipped.g) g *= 0.01F;
  free.g = clipped.g;
  AdamW with({.gradient_clip = 1}, {{0, 64, 1e-3}}, 64, 1);
  AdamW without({.gradient_clip = 0}, {{0, 64, 1e-3}}, 64, 1);
  with.add_to_norm(clipped.g);
  without.add_to_norm(free.g);
  with.step(clipped.state(), 1);
  without.step(free.state(), 1);
  EXPECT_EQ(clipped.p, free.p);
}

TEST(AdamW, BitsDoNotDependOnTheThreads) {
  constexpr std::size_t n = 100'003;
  std::vector<Arrays> results;
  std::vector<double> norms;
  for (const int threads : {1, 2, 3}) {
    Arrays arrays(n);
    arrays.draw_gradient(5);
    AdamW optimizer({}, {{0, n, 1e-3}}, n, threads);
    optimizer.add_to_norm(arrays.g);
    norms.push_back(optimizer.norm());
    optimizer.step(arrays.state(), 1);
    results.push_back(std::move(arrays));
  }
  for (std::size_t i = 1; i < results.size(); ++i) {
    EXPECT_EQ(norms[i], norms[0]);
    EXPECT_EQ(results[i].p, results[0].p);
    EXPECT_EQ(results[i].v, results[0].v);
  }
}

// In the same pass, and the parameters themselves are those of a step without it.
TEST(AdamW, WritesTheNewParametersRoundedToBf16) {
  constexpr std::size_t n = 70'001;
  Arrays plain(n);
  Arrays packing(n);
  std::vector<std::uint16_t> packed(n, 0xffff);
  AdamW optimizer({}, {{0, 40'000, 1e-3}, {40'000, n, 1e-2}}, n, 2);
  for (std::int64_t t = 1; t <= 4; ++t) {
    for (Arrays* arrays : {&plain, &packing}) {
      arrays->draw_gradient(static_cast<std::uint64_t>(t));
      optimizer.forget_norm();
      optimizer.add_to_norm(arrays->g);
      FlatState state = arrays->state();
      if (arrays == &packing) state.packed = packed;
      optimizer.step(state, t);
    }
    ASSERT_EQ(packing.p, plain.p);
    ASSERT_EQ(packing.v, plain.v);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(packed[i], bf16_from_float(packing.p[i])) << i;
  }
}

TEST(Sgd, WritesTheNewParametersRoundedToBf16) {
  Arrays arrays(1003);
  arrays.draw_gradient(3);
  const std::vector<float> before = arrays.p;
  std::vector<std::uint16_t> packed(before.size());
  sgd_step(arrays.p, arrays.g, packed, 0.1F, 2);
  for (std::size_t i = 0; i < before.size(); ++i) {
    ASSERT_NEAR(arrays.p[i], before[i] - 0.1F * arrays.g[i], 1e-7);
    ASSERT_EQ(packed[i], bf16_from_float(arrays.p[i]));
  }
}

TEST(AdamW, ZeroParametersWithZeroGradientsStayZero) {
  Arrays arrays(100);
  std::fill(arrays.p.begin(), arrays.p.end(), 0.0F);
  AdamW optimizer({}, {{0, 100, 1e-1}}, 100, 2);
  for (std::int64_t t = 1; t <= 10; ++t) {
    optimizer.add_to_norm(arrays.g);
    optimizer.step(arrays.state(), t);
  }
  EXPECT_EQ(arrays.p, std::vector<float>(100, 0.0F));
}

}  // namespace
}  // namespace trainward::optim

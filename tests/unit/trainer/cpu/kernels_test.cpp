// The innermost loops, in every instruction set this machine has.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "common/base/bf16.hpp"
#include "cpu/tile_tables.hpp"

namespace trainward::cpu {
namespace {

using test::Table;
using test::tables;

float apply(Table table, TileOp op, float x) {
  float y = 0;
  const Lane lane{&x, 1};
  table(op)(&y, &lane, 1);
  return y;
}

TEST(TileKernels, ExponentialAndLogAreAccurate) {
  for (const Table table : tables()) {
    for (double x = -87; x < 88; x += 0.0371) {
      const double exact = std::exp(static_cast<double>(static_cast<float>(x)));
      EXPECT_NEAR(apply(table, TileOp::exponential, static_cast<float>(x)) / exact, 1, 4e-7) << x;
    }
    for (double x = 1e-37; x < 1e38; x *= 1.37) {
      const double exact = std::log(static_cast<double>(static_cast<float>(x)));
      EXPECT_NEAR(apply(table, TileOp::log, static_cast<float>(x)), exact,
                  4e-7 * (1 + std::abs(exact)))
          << x;
    }
  }
}

TEST(TileKernels, TanhIsAccurate) {
  for (const Table table : tables()) {
    for (double x = -12; x < 12; x += 0.00313) {
      const double exact = std::tanh(static_cast<double>(static_cast<float>(x)));
      EXPECT_NEAR(apply(table, TileOp::tanh, static_cast<float>(x)) / exact, 1, 4e-7) << x;
    }
    for (const float x : {0.0F, 1e-30F, 50.0F, 1e30F}) {
      EXPECT_FLOAT_EQ(apply(table, TileOp::tanh, x), std::tanh(x));
      EXPECT_EQ(apply(table, TileOp::tanh, -x), -apply(table, TileOp::tanh, x));
    }
    EXPECT_TRUE(std::isnan(apply(table, TileOp::tanh, std::numeric_limits<float>::quiet_NaN())));
  }
}

TEST(ShareLoops, PowersAreAccurateAndAddUp) {
  constexpr float scale = 0.3F;  // not exact: products are rounded
  for (const ShareLoops& loops : test::all_share_loops()) {
    for (const std::size_t size : {1, 63, 64, 200}) {
      std::vector<float> x;
      for (std::size_t i = 0; i < size; ++i) x.push_back(-static_cast<float>(i) * 0.731F + 40.1F);
      const float shift = x[0] * scale;
      std::vector<float> powers = x;
      const float sum = loops.powers(powers.data(), scale, shift, std::ssize(powers));
      EXPECT_EQ(powers[0], 1.0F) << "the largest";
      double exact_sum = 0;
      for (std::size_t i = 0; i < size; ++i) {
        const double exact = std::exp(static_cast<double>(x[i] * scale - shift));
        EXPECT_NEAR(powers[i] / exact, 1, 1e-5) << i;
        exact_sum += exact;
      }
      EXPECT_NEAR(sum, exact_sum, 1e-5 * exact_sum);
    }
  }
}

TEST(ShareLoops, WhatIsFarBelowHasNoShareAndNaNStays) {
  for (const ShareLoops& loops : test::all_share_loops()) {
    std::vector<float> x{0.0F, -3e38F, -90.0F, -86.0F, std::numeric_limits<float>::quiet_NaN()};
    (void)loops.powers(x.data(), 1.0F, 0.0F, std::ssize(x));
    EXPECT_EQ(x[0], 1.0F);
    EXPECT_EQ(x[1], 0.0F);
    EXPECT_EQ(x[2], 0.0F);
    EXPECT_NEAR(x[3] / std::exp(-86.0), 1, 4e-7);
    EXPECT_TRUE(std::isnan(x[4]));
    float overflowing = -3e38F;
    (void)loops.powers(&overflowing, 16.0F, 5.0F, 1);
    EXPECT_EQ(overflowing, 0.0F);
  }
}

TEST(ShareLoops, GradientsOfScores) {
  for (const ShareLoops& loops : test::all_share_loops()) {
    std::vector<float> shares;
    std::vector<float> x;
    double dot = 0;
    for (int i = 0; i < 150; ++i) {
      shares.push_back(0.01F * static_cast<float>(i % 7));
      x.push_back(static_cast<float>(i % 11) - 5.0F);
      dot += static_cast<double>(shares.back()) * static_cast<double>(x.back());
    }
    const float mean = loops.product(x.data(), shares.data(), std::ssize(x));
    EXPECT_NEAR(mean, dot, 1e-5);
    const std::vector<float> before = x;
    loops.of_scores(x.data(), shares.data(), mean, 0.5F, std::ssize(x));
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(x[i], (before[i] - mean) * shares[i] * 0.5F, 1e-6) << i;
    }
  }
}

TEST(TileKernels, IntegersWrapAround) {
  const auto apply = [](Table table, TileOp op, std::int32_t a, std::int32_t b) {
    std::int32_t y = 0;
    const Lane lanes[] = {{&a, 1}, {&b, 1}};
    table(op)(&y, lanes, 1);
    return y;
  };
  for (const Table table : tables()) {
    EXPECT_EQ(apply(table, TileOp::add_i32, INT32_MAX, 1), INT32_MIN);
    EXPECT_EQ(apply(table, TileOp::multiply_i32, 0x10001, 0x10001), 0x20001);
    EXPECT_EQ(apply(table, TileOp::xor_i32, -1, 0x0f), ~0x0f);
    EXPECT_EQ(apply(table, TileOp::and_i32, -1, 0x0f), 0x0f);
    EXPECT_EQ(apply(table, TileOp::or_i32, 0x30, 0x0f), 0x3f);
    EXPECT_EQ(apply(table, TileOp::shift_right_i32, -1, 28), 0xf);
  }
}

TEST(TileKernels, SpecialValues) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Table table : tables()) {
    EXPECT_EQ(apply(table, TileOp::exponential, 0), 1);
    EXPECT_EQ(apply(table, TileOp::exponential, -1e30F), 0);
    EXPECT_EQ(apply(table, TileOp::exponential, 1e30F), infinity);
    EXPECT_TRUE(std::isnan(apply(table, TileOp::exponential, nan)));
    EXPECT_EQ(apply(table, TileOp::log, 1), 0);
    EXPECT_EQ(apply(table, TileOp::log, 0), -infinity);
    EXPECT_EQ(apply(table, TileOp::log, infinity), infinity);
    EXPECT_TRUE(std::isnan(apply(table, TileOp::log, -1)));
    EXPECT_TRUE(std::isnan(apply(table, TileOp::log, nan)));
    for (const auto& [a, b] : {std::pair(nan, 1.0F), std::pair(1.0F, nan)}) {
      float y = 0;
      const Lane lanes[] = {{&a, 1}, {&b, 1}};
      table(TileOp::maximum)(&y, lanes, 1);
      EXPECT_TRUE(std::isnan(y));
    }
  }
}

TEST(TileKernels, EveryOperationHasALoopAndHonoursStrides) {
  std::vector<float> a(300);
  std::vector<float> b(300);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7) - 2.5F;
    b[i] = static_cast<float>(i % 5) + 0.5F;
  }
  for (const Table table : tables()) {
    for (int op = 0; op < static_cast<int>(TileOp::count); ++op) {
      EXPECT_NE(table(static_cast<TileOp>(op)), nullptr) << op;
    }
    for (const std::ptrdiff_t as : {0, 1, 3}) {
      for (const std::ptrdiff_t bs : {0, 1, 3}) {
        std::vector<float> y(100, -1);
        const Lane lanes[] = {{a.data(), as}, {b.data(), bs}};
        table(TileOp::subtract)(y.data(), lanes, 100);
        for (std::ptrdiff_t i = 0; i < 100; ++i) {
          EXPECT_EQ(y[static_cast<std::size_t>(i)],
                    a[static_cast<std::size_t>(i * as)] - b[static_cast<std::size_t>(i * bs)]);
        }
      }
    }
  }
}

TEST(TileKernels, RowSumsOfAnyLength) {
  std::vector<float> ones(400, 1);
  for (const Table table : tables()) {
    for (std::ptrdiff_t n = 1; n <= 400; n += 7) {
      float sum = 0;
      const Lane lane{ones.data(), 1};
      table(TileOp::row_sum)(&sum, &lane, n);
      EXPECT_EQ(sum, static_cast<float>(n));
    }
  }
}

TEST(TileKernels, RowProductsOfAnyLength) {
  std::vector<float> a(400);
  std::vector<std::uint16_t> b(400);
  for (std::size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<float>(i % 7) - 3;
    b[i] = bf16_from_float(static_cast<float>(i % 5) - 1.5F);
  }
  for (const Table table : tables()) {
    for (std::ptrdiff_t n = 1; n <= 400; n += 7) {
      float expected = 0;  // exact: small multiples of a half
      for (std::ptrdiff_t i = 0; i < n; ++i) {
        const auto at = static_cast<std::size_t>(i);
        expected += a[at] * float_from_bf16(b[at]);
      }
      float sum = 0;
      const Lane lanes[] = {{a.data(), 1}, {b.data(), 1}};
      table(TileOp::row_product)(&sum, lanes, n);
      EXPECT_EQ(sum, expected);
    }
  }
}

}  // namespace
}  // namespace trainward::cpu

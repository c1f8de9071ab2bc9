// Conversions between floating-point types, against exact arithmetic.
#include "checkpoint/format/floats.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace trainward::checkpoint {
namespace {

template <typename T>
T converted(DType from, auto value, DType to) {
  T result{};
  convert_floats(from, std::as_bytes(std::span(&value, 1)), to,
                 std::as_writable_bytes(std::span(&result, 1)));
  return result;
}

// The nearest of all 16-bit values, ties to the even one, by looking at both neighbours.
std::uint16_t nearest(double value, float (*decode)(std::uint16_t), std::uint16_t infinity) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double size = std::abs(value);
  std::uint16_t low = 0;
  std::uint16_t high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (static_cast<double>(decode(middle)) <= size ? low : high) = middle;
  }
  // Half way to what would follow the largest finite number counts as infinite.
  const double above = high == infinity
                           ? 2.0 * decode(low) - decode(static_cast<std::uint16_t>(low - 1))
                           : decode(high);
  const double down = size - decode(low);
  const double up = above - size;
  const bool take_low = down < up || (down == up && low % 2 == 0);
  return sign | (std::isinf(value) || !take_low ? high : low);
}

TEST(Floats, EveryHalfSurvivesTheWayThroughFloatAndDouble) {
  for (unsigned i = 0; i <= 0xFFFF; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float half = float_from_f16(bits);
    const float brain = float_from_bf16(bits);
    if (std::isnan(half)) {
      EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(half)))) << i;
    } else {
      EXPECT_EQ(f16_from_float(half), bits);
      EXPECT_EQ(converted<std::uint16_t>(DType::f64, static_cast<double>(half), DType::f16), bits);
    }
    if (std::isnan(brain)) {
      EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(brain)))) << i;
    } else {
      EXPECT_EQ(bf16_from_float(brain), bits);
      EXPECT_EQ(converted<std::uint16_t>(DType::f64, static_cast<double>(brain), DType::bf16),
                bits);
    }
  }
}

TEST(Floats, FloatsRoundToTheNearestAndTiesToEven) {
  std::mt19937 random(7);
  for (int i = 0; i < 200'000; ++i) {
    auto value = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (i % 2 == 0) {  // few bits, so that ties come up
      value = std::ldexp(1.0F + static_cast<float>(random() % 8192) / 8192,
                         static_cast<int>(random() % 48) - 28);
    }
    if (std::isnan(value)) continue;
    ASSERT_EQ(f16_from_float(value), nearest(value, float_from_f16, 0x7C00)) << value;
    ASSERT_EQ(bf16_from_float(value), nearest(value, float_from_bf16, 0x7F80)) << value;
  }
}

TEST(Floats, DoublesAreRoundedOnce) {
  // Just above half way between 1 and the next bf16: through a float it would look like a tie.
  const double value = 1.0 + 0x1p-8 + 0x1p-40;
  EXPECT_EQ(converted<std::uint16_t>(DType::f64, value, DType::bf16), 0x3F81);
  EXPECT_EQ(converted<std::uint16_t>(DType::f64, 1.0 + 0x1p-8, DType::bf16), 0x3F80);
  EXPECT_EQ(converted<std::uint16_t>(DType::f64, 1.0 + 0x1p-11 + 0x1p-40, DType::f16), 0x3C01);
  EXPECT_EQ(converted<std::uint16_t>(DType::f64, 1.0 + 0x1p-11 - 0x1p-40, DType::f16), 0x3C00);
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const double any = std::ldexp(
        1.0 + static_cast<double>(random() % (1U << 13U)) / (1U << 13U) + (i % 3 - 1) * 0x1p-45,
        static_cast<int>(random() % 48) - 28);
    ASSERT_EQ(converted<std::uint16_t>(DType::f64, any, DType::f16),
              nearest(any, float_from_f16, 0x7C00))
        << any;
    ASSERT_EQ(converted<std::uint16_t>(DType::f64, any, DType::bf16),
              nearest(any, float_from_bf16, 0x7F80))
        << any;
  }
}

TEST(Floats, NotANumberStaysOne) {
  const auto only_low_bits = std::bit_cast<float>(0x7F800001U);
  EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(only_low_bits))));
  EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(only_low_bits))));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(converted<float>(DType::f64, nan, DType::f32)));
  EXPECT_TRUE(std::isnan(float_from_bf16(converted<std::uint16_t>(DType::f64, nan, DType::bf16))));
}

TEST(Floats, WhatIsTooLargeIsInfinite) {
  EXPECT_EQ(f16_from_float(65519.996F), 0x7BFF);
  EXPECT_EQ(f16_from_float(-65520.0F), 0xFC00);
  EXPECT_EQ(converted<std::uint16_t>(DType::f64, 1e300, DType::bf16), 0x7F80);
  EXPECT_EQ(converted<std::uint16_t>(DType::f64, -1e-300, DType::f16), 0x8000);
  EXPECT_EQ(converted<std::uint16_t>(DType::f32, std::numeric_limits<float>::max(), DType::bf16),
            0x7F80);
}

}  // namespace
}  // namespace trainward::checkpoint

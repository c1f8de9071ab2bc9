// Numbers are written exactly, and read as MLIR reads them.
#include "trainer/stablehlo/text/literal.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "common/base/bf16.hpp"

namespace trainward::stablehlo {
namespace {

using graph::Element;

TEST(Literal, IsSpelledAsMlirDoes) {
  EXPECT_EQ(literal(1, Element::f32), "1.0");
  EXPECT_EQ(literal(-0.0, Element::f32), "-0.0");
  EXPECT_EQ(literal(0.1, Element::f32), "0.1");
  EXPECT_EQ(literal(1e-5, Element::f32), "1.0e-05");
  EXPECT_EQ(literal(-1.5e30, Element::f32), "-1.5e+30");
  EXPECT_EQ(literal(1e300, Element::f32), "0x7F800000");
  EXPECT_EQ(literal(-std::numeric_limits<double>::infinity(), Element::f32), "0xFF800000");
  EXPECT_EQ(literal(-std::numeric_limits<double>::infinity(), Element::bf16), "0xFF80");
  EXPECT_EQ(literal(-std::numeric_limits<double>::quiet_NaN(), Element::f32), "0x7FC00000");
  EXPECT_EQ(literal(std::numeric_limits<double>::quiet_NaN(), Element::bf16), "0x7FC0");
  EXPECT_EQ(literal(-7, Element::i32), "-7");
  EXPECT_EQ(literal(0x846ca68b - 0x1p32, Element::i32), "-2073254261");
  EXPECT_EQ(literal(1, Element::pred), "true");
  EXPECT_EQ(literal(0, Element::pred), "false");
}

TEST(Literal, RefusesWhatTheElementCannotHold) {
  EXPECT_FALSE(read_literal("1", Element::f32));
  EXPECT_FALSE(read_literal("1.0e39", Element::f32));
  EXPECT_FALSE(read_literal("0x7FC0", Element::f32));
  EXPECT_FALSE(read_literal("0x7FC00000", Element::bf16));
  EXPECT_FALSE(read_literal("nan.", Element::f32));
  EXPECT_FALSE(read_literal("2147483648", Element::i32));
  EXPECT_FALSE(read_literal("1.0", Element::i32));
  EXPECT_FALSE(read_literal("1", Element::pred));
  EXPECT_EQ(read_literal("-2147483648", Element::i32), -2147483648.0);
  EXPECT_EQ(read_literal("0x3F800000", Element::f32), 1.0);
}

TEST(Literal, ReadsBackEveryBit) {
  std::mt19937 engine(7);
  for (int i = 0; i < 200'000; ++i) {
    const auto value = __builtin_bit_cast(float, static_cast<std::uint32_t>(engine()));
    if (std::isnan(value)) continue;
    const auto again = read_literal(literal(value, Element::f32), Element::f32);
    ASSERT_TRUE(again) << value;
    ASSERT_EQ(static_cast<float>(*again), value);
  }
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = float_from_bf16(static_cast<std::uint16_t>(bits));
    if (std::isnan(value)) continue;
    const auto again = read_literal(literal(value, Element::bf16), Element::bf16);
    ASSERT_TRUE(again) << value;
    ASSERT_EQ(static_cast<float>(*again), value);
  }
}

}  // namespace
}  // namespace trainward::stablehlo

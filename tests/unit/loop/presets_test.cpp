#include "trainer/loop/presets.hpp"

#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

TEST(PresetsTest, KnowsTheSizesOfThePaper) {
  EXPECT_EQ(preset("micro_3x").value(), (ModelSpec{128, 4, 8, 48, 257}));
  EXPECT_EQ(preset("femto_1x").value(), (ModelSpec{16, 1, 1, 16, 257}));
  EXPECT_EQ(preset("pico_3x").value(), (ModelSpec{32, 1, 2, 48, 257}));
  EXPECT_EQ(preset("nano_96x").value(), (ModelSpec{64, 2, 4, 1536, 257}));
  EXPECT_EQ(preset("smallx2").value(), (ModelSpec{512, 16, 16, 64, 257}));
  EXPECT_EQ(preset("large").value(), (ModelSpec{1024, 24, 16, 128, 257}));
}

TEST(PresetsTest, NamesTheNearestOfAnUnknownOne) {
  auto model = preset("micro3x");
  ASSERT_FALSE(model);
  EXPECT_EQ(model.error().kind, ErrorKind::usage);
  EXPECT_EQ(model.error().hint, "did you mean 'micro_3x'?");
  EXPECT_FALSE(preset("micro_5x"));
  EXPECT_FALSE(preset(""));
}

}  // namespace
}  // namespace trainward::trainer

#include "trainer/loop/reporting/device_meter.hpp"

#include <gtest/gtest.h>

#include "fake_trainable.hpp"

namespace trainward::trainer {
namespace {

using std::chrono::milliseconds;

class DeviceMeterTest : public testing::Test {
 protected:
  // The next step, `took` after the one before.
  std::optional<DeviceWindow> step(milliseconds took) {
    at_ += took;
    return meter_.after({++number_, 200, milliseconds(2), at_}).value();
  }

  FakeRecord record_;
  FakeTrainable model_{record_};
  DeviceMeter meter_{{"a/L", "a/R"}, model_};
  std::chrono::steady_clock::time_point at_{std::chrono::hours(1)};
  std::int64_t number_ = 0;
};

TEST_F(DeviceMeterTest, AWindowIsTheMeanOfItsSteps) {
  record_.use = {{30.0, milliseconds(50), milliseconds(150), DeviceMemory{7, 9}},
                 {{}, milliseconds(100), {}, {}}};
  for (int i = 0; i <= 9; ++i) EXPECT_FALSE(step(milliseconds(20))) << "the first step warms up";
  const auto window = step(milliseconds(20));
  ASSERT_TRUE(window);
  EXPECT_EQ(window->step, 11);
  EXPECT_EQ(window->steps, 10);
  ASSERT_EQ(window->devices.size(), 2U);
  const DeviceFigures& left = window->devices[0].figures;
  EXPECT_EQ(window->devices[0].name, "a/L");
  EXPECT_EQ(left.loss, 3.0);
  EXPECT_EQ(left.compute_ms, 5.0);
  EXPECT_EQ(left.collective_ms, 15.0);
  EXPECT_EQ(left.input_wait_ms, 2.0);
  EXPECT_EQ(left.tokens_per_second, 10 * 200 / 2 / 0.05) << "of its half, while it computed";
  EXPECT_EQ(left.memory, 7);
  EXPECT_EQ(left.memory_limit, 9);
  const DeviceFigures& right = window->devices[1].figures;
  EXPECT_EQ(right.loss, std::nullopt);
  EXPECT_EQ(right.collective_ms, std::nullopt);
  EXPECT_EQ(right.memory, std::nullopt);
}

TEST_F(DeviceMeterTest, WhatIsDoneInABreakIsOfNoStep) {
  step(milliseconds(20));
  EXPECT_FALSE(meter_.before_break(1).value()) << "no step is in it";
  record_.use = {{1.0, milliseconds(30), milliseconds(1), {}}};
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(step(milliseconds(20)));
  const auto cut_short = meter_.before_break(number_).value();
  ASSERT_TRUE(cut_short);
  EXPECT_EQ(cut_short->steps, 3);
  EXPECT_EQ(cut_short->step, 4);
  EXPECT_EQ(cut_short->devices.at(0).figures.compute_ms, 10.0);
  const int asked = record_.use_asked;
  EXPECT_TRUE(meter_.after_break(at_ + milliseconds(500)));
  EXPECT_EQ(record_.use_asked, asked + 1) << "and left out";
  EXPECT_FALSE(step(milliseconds(600))) << "a window begins after the break";
}

TEST_F(DeviceMeterTest, FastStepsShareAWindow) {
  record_.use = {{1.0, milliseconds(1), milliseconds(1), {}}};
  int windows = 0;
  for (int i = 0; i < 1000; ++i) windows += step(milliseconds(1)) ? 1 : 0;
  EXPECT_EQ(windows, 9) << "ten a second at most";
}

TEST_F(DeviceMeterTest, OfAModelThatTellsNothingThereIsNoWindow) {
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(step(milliseconds(100)));
}

}  // namespace
}  // namespace trainward::trainer

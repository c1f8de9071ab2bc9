// Which device the others wait for: named soon, and never without a reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "supervisor/decide/core/straggler_watch.hpp"
#include "world.hpp"

namespace trainward::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t window_steps = 10;

// Devices that compute about as long as each other, window by window.
class Devices {
 public:
  Devices(std::size_t count, double noise, unsigned seed)
      : slowness_(count, 1.0), noise_(0, noise), random_(seed) {}

  std::vector<std::string> next() {
    step_ += window_steps;
    DeviceWindow window{step_, window_steps, {}};
    for (std::size_t d = 0; d < slowness_.size(); ++d) {
      DeviceFigures figures;
      figures.compute_ms = 20 * slowness_[d] * (1 + noise_(random_));
      window.devices.push_back({fmt::format("device {}", d), figures});
    }
    return watch_devices(paces_, window);
  }
  std::vector<std::string> steps(std::int64_t count) {
    std::vector<std::string> notes;
    for (; count > 0; count -= window_steps) {
      for (std::string& note : next()) notes.push_back(std::move(note));
    }
    return notes;
  }
  double& slowness(std::size_t device) { return slowness_.at(device); }

 private:
  std::vector<double> slowness_;
  std::normal_distribution<double> noise_;
  std::mt19937 random_;
  std::vector<DevicePace> paces_;
  std::int64_t step_ = 0;
};

TEST(Straggler, AThirdSlowerIsNamedWithinFiftySteps) {
  for (const unsigned seed : {1U, 2U, 3U, 4U, 5U}) {
    for (const std::size_t count : {2U, 4U, 8U, 32U}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", devices " << count);
      Devices from_the_start(count, 0.02, seed);
      from_the_start.slowness(1) = 1 / 0.7;
      EXPECT_THAT(from_the_start.steps(50), ElementsAre(HasSubstr("device 1 is slow")));

      Devices later(count, 0.02, seed);
      EXPECT_THAT(later.steps(300), IsEmpty());
      later.slowness(1) = 1.3;  // 0.77 of the others: only the change tells
      EXPECT_THAT(later.steps(50), ElementsAre(HasSubstr("device 1 is slow")));
      EXPECT_THAT(later.steps(500), IsEmpty()) << "once is enough";
    }
  }
}

TEST(Straggler, NobodyIsInAThousandQuietSteps) {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    for (const double noise : {0.005, 0.02, 0.05, 0.1, 0.2}) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", noise " << noise);
      EXPECT_THAT(Devices(8, noise, seed).steps(1000), IsEmpty());
    }
  }
  for (const double noise : {0.005, 0.02, 0.05, 0.1}) {
    EXPECT_THAT(Devices(128, noise, 1).steps(1000), IsEmpty()) << noise;
  }
}

// Sequences of different length: another device has more to do each time.
TEST(Straggler, SlownessThatMovesWithTheDataIsNobodys) {
  Devices devices(4, 0.01, 1);
  for (std::size_t i = 0; i < 100; ++i) {
    devices.slowness(i % 4) = 1.5;
    EXPECT_THAT(devices.next(), IsEmpty());
    devices.slowness(i % 4) = 1;
  }
}

TEST(Straggler, OneThatKeepsUpAgainIsToldToo) {
  Devices devices(4, 0.01, 1);
  devices.slowness(3) = 2;
  EXPECT_THAT(devices.steps(100), ElementsAre(HasSubstr("times as long")));
  devices.slowness(3) = 1;
  EXPECT_THAT(devices.steps(400), ElementsAre(HasSubstr("device 3 keeps up with the others")));
  devices.slowness(3) = 2;
  EXPECT_THAT(devices.steps(100), ElementsAre(HasSubstr("device 3 is slow")));
}

// Told of less and less often.
TEST(Straggler, OneThatComesAndGoesDoesNotFillTheEvents) {
  Devices devices(4, 0.01, 1);
  std::size_t notes = 0;
  for (int i = 0; i < 200; ++i) {
    devices.slowness(2) = i % 2 == 0 ? 3 : 1;
    notes += devices.steps(200).size();
  }
  EXPECT_GT(notes, 1U);
  EXPECT_LT(notes, 30U);
}

TEST(Straggler, WhatCannotBeComparedIsNot) {
  std::vector<DevicePace> paces;
  DeviceFigures slow;
  slow.compute_ms = 50;
  for (int i = 1; i <= 10; ++i) {
    EXPECT_THAT(watch_devices(paces, {i * 10, 10, {{"alone", slow}}}), IsEmpty());
    EXPECT_THAT(watch_devices(paces, {i * 10, 10, {{"a", slow}, {"untold", {}}}}), IsEmpty());
  }
}

TEST(Straggler, ItIsAnEventOfTheRunAndEachWindowIsKept) {
  World world;
  world.run_to_training();
  DeviceFigures fast, slow;
  fast.compute_ms = 10;
  slow.compute_ms = 20;
  for (int i = 1; i <= 5; ++i) {
    world.feed(DevicesTold{{i * 10, 10, {{"a/L", fast}, {"a/R", slow}}}});
    ASSERT_EQ(world.newest<RecordDevices>().size(), 1U);
    EXPECT_EQ(world.newest<RecordDevices>().front().window.step, i * 10);
    EXPECT_EQ(world.newest<RecordEvent>().size(), i == 3 ? 1U : 0U) << "window " << i;
  }
}

}  // namespace
}  // namespace trainward::core

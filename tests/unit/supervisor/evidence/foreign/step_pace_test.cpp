// Of steps that are printed faster than anybody can look: the newest of each moment.
#include "supervisor/evidence/foreign/step_pace.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace trainward::foreign {
namespace {

std::vector<std::int64_t> steps_of(const Events& events) {
  std::vector<std::int64_t> steps;
  for (const core::Event& event : events) {
    if (const auto* step = std::get_if<core::StepDone>(&event)) steps.push_back(step->step.number);
  }
  return steps;
}

Events steps(std::int64_t from, std::int64_t count) {
  Events events;
  for (std::int64_t i = 0; i < count; ++i) events.emplace_back(core::StepDone{Step{from + i}, 2.5});
  return events;
}

TEST(StepPace, WhatComesNoFasterThanTheRateIsToldAtOnce) {
  StepPace pace;
  for (std::int64_t i = 1; i <= 20'000; ++i) {
    ASSERT_EQ(steps_of(pace.keep(steps(i, 1), {10 * i})), (std::vector<std::int64_t>{i}));
  }
  EXPECT_TRUE(pace.rest().empty());
}

TEST(StepPace, OfAFloodTheNewestOfEachTenMillisecondsIsToldAndTheLastInAnyCase) {
  StepPace pace;
  std::vector<std::int64_t> told;
  std::int64_t notices = 0;
  for (std::int64_t ms = 1; ms <= 10'000; ++ms) {
    const Events kept = pace.keep(steps(50 * ms, 50), {ms});
    for (const std::int64_t step : steps_of(kept)) told.push_back(step);
    for (const auto& event : kept) notices += std::holds_alternative<core::Noticed>(event) ? 1 : 0;
  }
  for (const std::int64_t step : steps_of(pace.rest())) told.push_back(step);
  EXPECT_LE(told.size(), 9'001U);
  EXPECT_GE(told.size(), 8'900U);
  EXPECT_TRUE(std::is_sorted(told.begin(), told.end()));
  EXPECT_EQ(told.back(), 50 * 10'000 + 49);
  EXPECT_EQ(notices, 1);
}

TEST(StepPace, WhatIsNoStepAndALossThatIsNoneAreToldInTheirOrder) {
  StepPace pace;
  (void)pace.keep(steps(1, 8'000), {1});
  Events mixed = steps(8'001, 10);
  mixed.emplace_back(core::PhaseEntered{"save"});
  mixed.emplace_back(core::StepDone{Step{8'011}, NAN});
  const Events kept = pace.keep(std::move(mixed), {1});
  EXPECT_EQ(steps_of(kept), (std::vector<std::int64_t>{8'010, 8'011}));
  EXPECT_TRUE(std::holds_alternative<core::PhaseEntered>(kept.at(kept.size() - 3)));
}

}  // namespace
}  // namespace trainward::foreign

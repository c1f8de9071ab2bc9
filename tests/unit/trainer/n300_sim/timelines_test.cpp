#include "trainer/n300_sim/timelines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::n300 {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using Ready = std::vector<Instant>;

// Milliseconds after some beginning.
Instant at(int ms) { return Instant(milliseconds(1'000'000 + ms)); }

StageTime computing(int ms) { return {milliseconds(ms)}; }
StageTime summing(std::int64_t bytes, graph::op::AllReduce over = {2}) {
  return {{}, {{over, bytes}}};
}

// A program whose arguments were there long ago.
Ready add(Timelines& timelines, int now, const std::vector<StageTime>& stages,
          Ready ready = Ready(2)) {
  timelines.add(at(now), stages, ready);
  return ready;
}

TEST(Timelines, AChipIsDoneWhenTheHostIs) {
  Timelines timelines({1, 1});
  EXPECT_THAT(add(timelines, 0, {computing(10)}), ElementsAre(at(10), at(10)));
  EXPECT_THAT(add(timelines, 12, {computing(5)}), ElementsAre(at(17), at(17)));
  EXPECT_EQ(timelines.chips_end(), at(17));
}

TEST(Timelines, ASlowChipTakesLongerAndFallsBehind) {
  Timelines timelines({1, 1.5});
  EXPECT_THAT(add(timelines, 0, {computing(10)}), ElementsAre(at(10), at(15)));
  EXPECT_THAT(add(timelines, 10, {computing(10)}), ElementsAre(at(20), at(30)));
  EXPECT_THAT(add(timelines, 50, {computing(10)}), ElementsAre(at(60), at(65)));
  EXPECT_EQ(timelines.chips_end(), at(65));
}

TEST(Timelines, AProgramWaitsForItsArguments) {
  Timelines timelines({1, 1});
  EXPECT_THAT(add(timelines, 0, {computing(10)}, {at(30), at(5)}), ElementsAre(at(40), at(15)));
  EXPECT_THAT(add(timelines, 10, {computing(10)}), ElementsAre(at(50), at(25)));
}

TEST(Timelines, AChipThatTakesNoPartGoesOn) {
  Timelines timelines({2, 1});
  EXPECT_THAT(add(timelines, 0, {computing(50)}, Ready(1)), ElementsAre(at(100)));
  EXPECT_THAT(add(timelines, 50, {computing(10)}), ElementsAre(at(120), at(60)));
}

TEST(Timelines, ASumIsThereWhenTheSlowestChipIs) {
  Timelines timelines({1, 3});
  const auto both = add(timelines, 0, {computing(10), summing(400), computing(10)});
  EXPECT_THAT(both, ElementsAre(at(40), at(60)));
}

TEST(Timelines, AChipGoesOnBesideASum) {
  Timelines timelines({1, 3});
  const auto gradient = add(timelines, 0, {computing(10)});
  const auto next = add(timelines, 10, {computing(10)});
  // Its argument is there at 30 on the slow chip, which is busy until 60.
  EXPECT_THAT(add(timelines, 20, {summing(400)}, gradient), ElementsAre(at(30), at(30)));
  EXPECT_THAT(next, ElementsAre(at(20), at(60)));
}

TEST(Timelines, ALinkSumsOneAfterAnotherBesideTheChips) {
  // 10 ms for 10 MB on two devices, and 1 ms more each time.
  Timelines timelines({1, 1}, Link{.gb_per_s = 1, .latency_us = 1000});
  constexpr std::int64_t bytes = 10'000'000;
  const auto first = add(timelines, 0, {computing(5)});
  EXPECT_THAT(add(timelines, 5, {summing(bytes)}, first), ElementsAre(at(16), at(16)));
  const auto second = add(timelines, 5, {computing(5)});
  EXPECT_THAT(second, ElementsAre(at(10), at(10)));
  const auto sum = add(timelines, 10, {summing(bytes)}, second);
  EXPECT_THAT(sum, ElementsAre(at(27), at(27)));
  EXPECT_THAT(add(timelines, 11, {computing(2)}, sum), ElementsAre(at(29), at(29)));
  EXPECT_EQ(timelines.chips_end(), at(29));
}

TEST(Timelines, RowsDoNotWaitForEachOther) {
  Timelines timelines({1, 1, 1, 3}, Link{.gb_per_s = 1, .latency_us = 1000});
  constexpr std::int64_t bytes = 10'000'000;
  const auto rows = add(timelines, 0, {computing(10), summing(bytes)}, Ready(4));
  EXPECT_THAT(rows, ElementsAre(at(21), at(21), at(41), at(41)));
  const auto columns = add(timelines, 50, {summing(bytes, {2, 2})}, rows);
  EXPECT_THAT(columns, ElementsAre(at(61), at(61), at(61), at(61)));
}

TEST(Timelines, SumsOverTheSameDevicesAreOneExchange) {
  StageTime stage = summing(100);
  stage.add({{2}, 50});
  stage.add({{2, 2}, 7});
  ASSERT_EQ(stage.sums.size(), 2U);
  EXPECT_EQ(stage.sums[0].bytes, 150);
  EXPECT_EQ(stage.sums[1].bytes, 7);
}

TEST(Timelines, ASumTakesWhatARingWouldTake) {
  const Link link{.gb_per_s = 0.5, .latency_us = 10};
  EXPECT_EQ(time_of_sum(link, 2, 1'000'000), std::chrono::microseconds(2010));
  EXPECT_EQ(time_of_sum(link, 4, 1'000'000), std::chrono::microseconds(3010));
  EXPECT_EQ(time_of_sum(link, 8, 0), std::chrono::microseconds(10));
}

}  // namespace
}  // namespace trainward::n300

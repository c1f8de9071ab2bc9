#include "trainer/n300_sim/alarm.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace trainward::n300 {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

Instant now() { return Instant::clock::now(); }

TEST(Alarm, WhatIsOverIsCalledAtOnceByTheCaller) {
  Alarm alarm;
  std::thread::id caller;
  alarm.call(now(), [&] { caller = std::this_thread::get_id(); });
  EXPECT_EQ(caller, std::this_thread::get_id());
  EXPECT_TRUE(alarm.has_come(now()));
  alarm.wait(now());
}

TEST(Alarm, CallsComeInTheOrderOfTheirMomentsAndNotBefore) {
  const Instant start = now();
  std::vector<int> order;
  std::promise<Instant> last;
  Alarm alarm;
  alarm.call(start + 30ms, [&] {
    order.push_back(3);
    last.set_value(now());
  });
  alarm.call(start + 10ms, [&] { order.push_back(1); });
  alarm.call(start + 10ms, [&] { order.push_back(2); });
  EXPECT_GE(last.get_future().get(), start + 30ms);
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Alarm, WaitsUntilTheMoment) {
  Alarm alarm;
  const Instant when = now() + 10ms;
  alarm.wait(when);
  EXPECT_GE(now(), when);
}

TEST(Alarm, AStopMakesTheCallsThatAreDueLaterAndWakesThoseThatWait) {
  std::vector<int> order;
  Alarm alarm;
  alarm.call(now() + 2h, [&] { order.push_back(2); });
  alarm.call(now() + 1h, [&] { order.push_back(1); });
  const Instant never = now() + 3h;
  std::thread waits([&] { alarm.wait(never); });
  EXPECT_FALSE(alarm.has_come(never));
  alarm.stop();
  waits.join();
  EXPECT_THAT(order, ElementsAre(1, 2));
  EXPECT_TRUE(alarm.has_come(never));
  alarm.call(never, [&] { order.push_back(3); });
  EXPECT_THAT(order, ElementsAre(1, 2, 3));
}

TEST(Alarm, ACallMayAskForAnother) {
  std::promise<void> done;
  Alarm alarm;
  alarm.call(now() + 1ms, [&] { alarm.call(now() + 1ms, [&] { done.set_value(); }); });
  done.get_future().wait();
}

}  // namespace
}  // namespace trainward::n300

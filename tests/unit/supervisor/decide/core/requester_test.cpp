// Who asked for a start or stop stands in the events of that turn, and in no other.
#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "world.hpp"

namespace trainward::core {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;

// Of the newest turn.
std::vector<std::string> askers(const World& world) {
  std::vector<std::string> names;
  for (const RecordEvent& event : world.newest<RecordEvent>()) names.push_back(event.by);
  return names;
}

std::vector<std::string> texts(const World& world) {
  std::vector<std::string> all;
  for (const RecordEvent& event : world.newest<RecordEvent>()) all.push_back(event.text);
  return all;
}

TEST(Requester, AStopSaysWhoAskedForIt) {
  World world;
  world.run_to_training().steps(1, 3);
  world.feed(StopRequested{.who = "uid 1000", .by = "uid 1000"});
  EXPECT_THAT(texts(world), ElementsAre("asked to stop by uid 1000; SIGTERM sent"));
  EXPECT_THAT(askers(world), ElementsAre("uid 1000"));
  world.feed(exited_with(75));
  EXPECT_EQ(world.state.stage, Stage::stopped);
  EXPECT_THAT(askers(world), AllOf(Not(IsEmpty()), Each("")));
}

TEST(Requester, AProgramThatWaitsIsStoppedBySomebodyToo) {
  World world;
  world.run_to_training().feed(exited_with(1)).feed(Alive{});
  ASSERT_EQ(world.state.stage, Stage::backoff);
  world.feed(StopRequested{.who = "token anna", .by = "token anna"});
  EXPECT_EQ(world.state.reason, "stopped by token anna");
  EXPECT_THAT(askers(world), ElementsAre("token anna"));
}

TEST(Requester, TheFirstStartIsAnEventWhenSomebodyAskedForIt) {
  World world;
  world.feed(StartRequested{.by = "uid 0"});
  EXPECT_THAT(texts(world), Contains("first attempt: start requested by uid 0"));
  EXPECT_THAT(askers(world), Each("uid 0"));
  World unasked;
  unasked.feed(StartRequested{});
  EXPECT_THAT(texts(unasked), Not(Contains(testing::HasSubstr("start requested"))));
}

TEST(Requester, ARestartIsAskedForByOneWhoIsNamed) {
  World world;
  world.run_to_training().feed(RestartRequested{"token anna"});
  EXPECT_THAT(texts(world), ElementsAre("asked to stop by token anna; SIGTERM sent"));
  EXPECT_THAT(askers(world), ElementsAre("token anna"));
  world.feed(exited_with(75));
  EXPECT_EQ(world.state.attempt, 2);
}

TEST(Requester, WhoeverAsksAgainWhileItEndsIsOnRecord) {
  World world;
  world.run_to_training().feed(StopRequested{.who = "uid 1", .by = "uid 1"});
  world.feed(StopRequested{.who = "uid 2", .by = "uid 2"});
  EXPECT_THAT(texts(world), ElementsAre("asked to stop by uid 2; it is ending already"));
  EXPECT_THAT(askers(world), ElementsAre("uid 2"));
  world.feed(StartRequested{.by = "uid 3"});
  EXPECT_THAT(askers(world), ElementsAre("uid 3"));
  EXPECT_TRUE(world.state.restart_when_stopped);
}

TEST(Requester, WhatNobodyAskedForNamesNobody) {
  World world;
  world.run_to_training().steps(1, 3).feed(StopRequested{"operator"}).feed(exited_with(75));
  for (const RecordEvent& event : world.every<RecordEvent>()) EXPECT_EQ(event.by, "") << event.text;
}

TEST(Requester, WhatIsNoticedMayHaveBeenDoneBySomebody) {
  World world;
  world.run_to_training().feed(Noticed{"signal", "SIGUSR1 sent to the worker", "uid 7"});
  EXPECT_THAT(askers(world), ElementsAre("uid 7"));
}

}  // namespace
}  // namespace trainward::core

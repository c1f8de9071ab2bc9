// A token bucket for each kind.
#include "supervisor/evidence/host/storm_limit.hpp"

#include <gtest/gtest.h>

namespace trainward::host {
namespace {

TEST(StormLimit, TheFirstFewThenOneNowAndThen) {
  StormLimit limit(2, 1000);
  EXPECT_TRUE(limit.admit("a", {50}));
  EXPECT_TRUE(limit.admit("a", {60}));
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(limit.admit("a", {70}));
  EXPECT_TRUE(limit.admit("b", {70})) << "kinds do not share";
  EXPECT_EQ(limit.take_held_back("a"), 100);
  EXPECT_EQ(limit.take_held_back("a"), 0);
  EXPECT_EQ(limit.take_held_back("never seen"), 0);
  EXPECT_TRUE(limit.admit("a", {1100}));
  EXPECT_FALSE(limit.admit("a", {1200}));
}

TEST(StormLimit, ALongPauseFillsItNoFurtherThanFull) {
  StormLimit limit(2, 1000);
  EXPECT_TRUE(limit.admit("a", {0}));
  int passed = 0;
  for (int i = 0; i < 10; ++i) passed += limit.admit("a", {INT64_MAX / 2}) ? 1 : 0;
  EXPECT_EQ(passed, 2);
  EXPECT_FALSE(limit.admit("a", {5})) << "a clock that runs backwards earns nothing";
}

}  // namespace
}  // namespace trainward::host

#include "trainer/loop/reporting/evaluations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace trainward::trainer {
namespace {

using testing::ElementsAre;

TEST(Evaluations, KeepTheLowestInOrderAndOfEqualsTheEarlier) {
  Evaluations all;
  EXPECT_TRUE(add(all, {10, 3.0}, 2));
  EXPECT_TRUE(add(all, {20, 2.0}, 2));
  EXPECT_FALSE(add(all, {30, 3.0}, 2));
  EXPECT_TRUE(add(all, {40, 2.5}, 2));
  EXPECT_FALSE(add(all, {50, 2.5}, 2));
  EXPECT_THAT(all.best, ElementsAre(Evaluated{20, 2.0}, Evaluated{40, 2.5}));
  EXPECT_EQ(all.since_best, 3);
}

TEST(Evaluations, TheLowestIsKnownEvenWhereNoneIsKept) {
  Evaluations all;
  add(all, {10, 3.0}, 0);
  add(all, {20, 4.0}, 0);
  EXPECT_THAT(all.best, ElementsAre(Evaluated{10, 3.0}));
  add(all, {30, 1.0}, 0);
  EXPECT_THAT(all.best, ElementsAre(Evaluated{30, 1.0}));
  EXPECT_EQ(all.since_best, 0);
}

TEST(Evaluations, AreReadBackAsTheyWereWritten) {
  Evaluations all;
  add(all, {10, 0.1 + 0.2}, 3);
  add(all, {20, std::numeric_limits<double>::min()}, 3);
  all.evaluated_step = 20;
  const json::value text = json::parse(json::serialize(to_json(all)));
  EXPECT_EQ(parse_evaluations(text.as_object(), 24).value(), all);
  for (const char* wrong :
       {"{}", R"({"since_best": 1})", R"({"since_best": 1, "best": [1]})",
        R"({"since_best": 1, "best": []})", R"({"since_best": 1, "best": [{"step": 1}]})",
        R"({"since_best": 0, "best": [], "evaluated_step": -2})",
        R"({"since_best": 0, "best": [], "sampled_step": "none"})"}) {
    EXPECT_EQ(parse_evaluations(json::parse(wrong).as_object(), 24).error().kind,
              ErrorKind::corrupt);
  }
}

// An older version said nothing of the newest steps, and went on without making up for a stop.
TEST(Evaluations, OfAnOlderVersionOweNothing) {
  const json::value text = json::parse(R"({"since_best": 1, "best": [{"step": 10, "loss": 2.5}]})");
  const auto all = parse_evaluations(text.as_object(), 24);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->evaluated_step, 24);
  EXPECT_EQ(all->sampled_step, 24);
  EXPECT_EQ(all->since_best, 1);
}

}  // namespace
}  // namespace trainward::trainer

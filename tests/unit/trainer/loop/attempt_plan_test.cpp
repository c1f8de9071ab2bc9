#include "trainer/loop/setup/attempt_plan.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

TEST(AttemptPlanTest, ReadsTheBoardAndPassesTheRestOver) {
  auto plan = read_attempt_plan(
      R"({"block": 128, "board": {"serial": "0100", "bdf": "0000:01:00.0", "simulate": {}}})");
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->serial, "0100");
  EXPECT_EQ(plan->block, 128);
}

TEST(AttemptPlanTest, SaysHowTheWorkIsCut) {
  auto plan = read_attempt_plan(
      R"({"block": 64, "batch": 4, "accumulation": 2, "recompute": true, "checkpoint_every": 2,
          "skip": [{"from": 41, "to": 43}, {"from": 21, "to": 43}]})");
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->block, 64);
  EXPECT_EQ(plan->checkpoint_every, 2);
  TrainingSpec configured;
  configured.batch_size = 8;
  configured.accumulation = 3;
  const TrainingSpec cut = planned(configured, *plan);
  EXPECT_EQ(cut.block_size, 64);
  EXPECT_EQ(cut.batch_size, 4);
  EXPECT_EQ(cut.sequences_per_step(), configured.sequences_per_step());
  EXPECT_TRUE(cut.recompute);
  EXPECT_EQ(batches_to_skip(*plan, 40), 3);
  EXPECT_EQ(batches_to_skip(*plan, 20), 23);
  EXPECT_EQ(batches_to_skip(*plan, 43), 0);
  for (const char* text :
       {R"({"skip": [1]})", R"({"skip": [{"from": 5, "to": 4}]})", R"({"skip": [{"to": 4}]})",
        R"({"block": -1})", R"({"batch": -1})", R"({"accumulation": 0})",
        R"({"accumulation": 99999999999})", R"({"skip": [{"from": 1, "to": 99999999999}]})"}) {
    EXPECT_FALSE(read_attempt_plan(text)) << text;
  }
}

TEST(AttemptPlanTest, MayHaveASmallerMeshThanIsConfigured) {
  WorkerConfig settings;
  settings.mesh_rows = 2;
  settings.mesh_columns = 4;
  use_mesh(*read_attempt_plan(R"({"mesh": {"chips": ["a/L", "b/L"]}})"), settings);
  EXPECT_EQ(settings.ranks(), 8);
  const auto plan = read_attempt_plan(R"({"mesh": {"shape": [1, 2], "chips": ["a/L", "a/R"]}})");
  ASSERT_TRUE(plan) << plan.error().message();
  use_mesh(*plan, settings);
  EXPECT_EQ(settings.ranks(), 2);
  for (const char* shape : {"[]", "[2]", "[0, 1]", "[1, -1]", "[1, 2, 3]", "[33, 32]", "2"}) {
    EXPECT_FALSE(read_attempt_plan(fmt::format(R"({{"mesh": {{"shape": {}}}}})", shape))) << shape;
  }
}

TEST(AttemptPlanTest, WithoutABoardThereIsNoSerial) {
  for (const char* text : {"", "{}", R"({"board": null})", R"({"board": {}})"}) {
    auto plan = read_attempt_plan(text);
    ASSERT_TRUE(plan) << text;
    EXPECT_EQ(plan->serial, "") << text;
  }
}

TEST(AttemptPlanTest, RefusesWhatItWouldHaveToGuess) {
  for (const char* text : {"{", "[]", R"({"board": 1})"}) {
    EXPECT_FALSE(read_attempt_plan(text)) << text;
  }
}

}  // namespace
}  // namespace trainward::trainer

#include "trainer/loop/attempt_plan.hpp"

#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

TEST(AttemptPlanTest, ReadsTheBoardAndPassesTheRestOver) {
  auto plan = read_attempt_plan(R"({"block": 128, "board": {"serial": "0100", "bdf": "0000:01:00.0",
      "simulate": {"dram_bytes": 1000, "base_bytes": 100, "leak_bytes_per_step": 30,
                   "hang": {"attempt": 5, "after_steps": 12}}}})");
  ASSERT_TRUE(plan) << plan.error().message();
  EXPECT_EQ(plan->serial, "0100");
  ASSERT_TRUE(plan->simulate);
  EXPECT_EQ(plan->simulate->dram_bytes, 1000U);
  EXPECT_EQ(plan->simulate->base_bytes, 100U);
  EXPECT_EQ(plan->simulate->leak_bytes_per_step, 30U);
  ASSERT_TRUE(plan->simulate->hang);
  EXPECT_EQ(plan->simulate->hang->attempt, 5);
  EXPECT_EQ(plan->simulate->hang->after_steps, 12);
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

TEST(AttemptPlanTest, ABoardWithoutASimulationIsReal) {
  for (const char* text : {"", "{}", R"({"board": null})", R"({"board": {"serial": "0100"}})",
                           R"({"board": {"simulate": null}})"}) {
    auto plan = read_attempt_plan(text);
    ASSERT_TRUE(plan) << text;
    EXPECT_FALSE(plan->simulate) << text;
  }
  auto all_default = read_attempt_plan(R"({"board": {"simulate": {}}})");
  ASSERT_TRUE(all_default && all_default->simulate);
  EXPECT_EQ(all_default->simulate->dram_bytes, std::uint64_t{24} << 30);
}

TEST(AttemptPlanTest, RefusesWhatItWouldHaveToGuess) {
  for (const char* text : {"{", "[]", R"({"board": 1})", R"({"board": {"simulate": true}})",
                           R"({"board": {"simulate": {"base_bytes": -1}}})",
                           R"({"board": {"simulate": {"hang": {"after_steps": 1}}}})"}) {
    EXPECT_FALSE(read_attempt_plan(text)) << text;
  }
  auto misspelt = read_attempt_plan(R"({"board": {"simulate": {"leak_bytes_per_stp": 1}}})");
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().where, "simulate.leak_bytes_per_stp");
  EXPECT_EQ(misspelt.error().hint, "did you mean 'leak_bytes_per_step'?");
}

}  // namespace
}  // namespace trainward::trainer

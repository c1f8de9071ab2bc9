#include "trainer/worker/commands/exchange_plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

WorkerConfig config(std::int64_t rows, std::int64_t columns) {
  WorkerConfig config;
  config.mesh_rows = rows;
  config.mesh_columns = columns;
  config.training.batch_size = 64;
  config.training.block_size = 1024;
  config.training.model = {.width = 768, .layers = 12, .heads = 12, .rank = 64, .vocabulary = 257};
  return config;
}

TEST(ExchangePlan, EveryMachineHasItsOwnWay) {
  const auto pair = exchange_of(config(1, 2));
  ASSERT_TRUE(pair) << pair.error().message();
  EXPECT_EQ(pair->machine, "n300");
  EXPECT_EQ(pair->choice.algorithm, mesh::Algorithm::line);
  const auto t3k = exchange_of(config(2, 4));
  EXPECT_EQ(t3k->machine, "t3k");
  EXPECT_EQ(t3k->choice.algorithm, mesh::Algorithm::ring);
  EXPECT_GT(t3k->gradient_bytes, 4 * 12 * 768 * 768);
  EXPECT_EQ(exchange_of(config(4, 8))->machine, "galaxy");
}

TEST(ExchangePlan, SaysWhatOfAStepItTakes) {
  const auto plan = exchange_of(config(2, 4));
  ASSERT_TRUE(plan);
  EXPECT_GT(plan->alone.share, plan->beside.share);
  EXPECT_GT(plan->beside.share, 0);
  EXPECT_LT(plan->alone.share, 1);
  const std::string text = to_text(*plan);
  EXPECT_THAT(text, HasSubstr("[2, 4], 8 devices"));
  EXPECT_THAT(text, HasSubstr("ring: "));
  EXPECT_EQ(to_json(*plan).at("algorithm").as_string(), "ring");
  WorkerConfig many = config(64, 1);
  EXPECT_THAT(to_text(*exchange_of(many)), HasSubstr("as in galaxy, were they all on one host"));
  WorkerConfig faster = config(2, 4);
  faster.peak_tflops = 130;
  EXPECT_GT(exchange_of(faster)->alone.share, plan->alone.share);
}

WorkerConfig divided(std::int64_t rows, std::int64_t columns, std::int64_t width) {
  WorkerConfig all = config(rows, columns);
  all.enable_tp = true;
  all.training.model.width = width;
  all.training.model.heads = width / 64;
  all.training.columns = columns;
  return all;
}

TEST(ExchangePlan, SharesOfWeightsAreComparedWithWhatTheySave) {
  const auto large = exchange_of(divided(2, 4, 4096));
  ASSERT_TRUE(large) << large.error().message();
  ASSERT_TRUE(large->divided);
  EXPECT_EQ(large->divided->work.sums, 12 * 4);
  EXPECT_EQ(large->divided->work.bytes, 32LL * 1024 * 4096 * 4)
      << "the sequences of one row of two";
  EXPECT_NEAR(static_cast<double>(large->gradient_bytes),
              static_cast<double>(large->divided->weights_bytes) / 4, 0.01 * 1e9);
  EXPECT_TRUE(large->helps());
  EXPECT_THAT(to_text(*large), HasSubstr("the devices of a row share a copy"));
  EXPECT_TRUE(to_json(*large).at("divided_weights").at("helps").as_bool());
  // The sums grow with the width, what they save with its square.
  const auto small = exchange_of(divided(1, 2, 384));
  ASSERT_TRUE(small);
  EXPECT_FALSE(small->helps());
  EXPECT_EQ(small->choice.algorithm, mesh::Algorithm::single) << "nobody else has these gradients";
  EXPECT_THAT(to_text(*small), HasSubstr("It does NOT help"));
}

TEST(ExchangePlan, AWidthThatColumnsDoNotDivideIsRefused) {
  const auto plan = exchange_of(divided(1, 5, 768));
  ASSERT_FALSE(plan);
  EXPECT_THAT(plan.error().message(), HasSubstr("do not divide evenly over 5 columns"));
}

TEST(ExchangePlan, ABatchThatCannotBeSharedIsRefused) {
  WorkerConfig uneven = config(2, 4);
  uneven.training.batch_size = 3;
  const auto plan = exchange_of(uneven);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace trainward::trainer

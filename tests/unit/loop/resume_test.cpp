// With the real model: twelve steps at a stretch against five, a stop, and seven more.

#include <gtest/gtest.h>

#include "checkpoint/checkpoint.hpp"
#include "trainer/model/agillm3.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

TEST(ResumeTest, TheRealModelGoesOnBitForBit) {
  WorkerBench bench;
  bench.training()["warmup_steps"] = 8;
  ASSERT_EQ(bench.run(make_agillm3), exit_code::done) << bench.said.err;
  auto straight = checkpoint::digest(bench.checkpoint(12));
  ASSERT_TRUE(straight) << straight.error().message();
  const auto losses = bench.said.all("LOSS");
  std::filesystem::remove_all(bench.checkpoints());

  bench.requests.stop_at = 5;
  ASSERT_EQ(bench.run(make_agillm3), exit_code::try_again) << bench.said.err;
  bench.requests.stop_at = -1;
  bench.environment.resume_from = bench.checkpoint(5).string();
  ASSERT_EQ(bench.run(make_agillm3), exit_code::done) << bench.said.err;
  auto resumed = checkpoint::digest(bench.checkpoint(12));
  ASSERT_TRUE(resumed) << resumed.error().message();
  EXPECT_EQ(*resumed, *straight);
  EXPECT_EQ(bench.said.all("LOSS"), (std::vector(losses.begin() + 5, losses.end())));
}

}  // namespace
}  // namespace trainward::trainer

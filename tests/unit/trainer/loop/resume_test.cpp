// With the real model: twelve steps at a stretch against five, a stop, and seven more.

#include <gtest/gtest.h>

#include "checkpoint/checkpoint.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

Result<std::unique_ptr<Trainable>> on_cpu(const TrainingSpec& spec) { return make_cpu_model(spec); }

class ResumeTest : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Models, ResumeTest, ::testing::Values("femto_1x", "gpt2_femto"));

TEST_P(ResumeTest, TheRealModelGoesOnBitForBit) {
  WorkerBench bench;
  bench.training()["model"] = GetParam();
  bench.training()["dropout"] = 0.1;
  bench.training()["warmup_steps"] = 8;
  ASSERT_EQ(bench.run(on_cpu), exit_code::done) << bench.said.err;
  auto straight = checkpoint::digest(bench.checkpoint(12));
  ASSERT_TRUE(straight) << straight.error().message();
  const auto losses = bench.said.all("LOSS");
  std::filesystem::remove_all(bench.checkpoints());

  bench.requests.stop_at = 5;
  ASSERT_EQ(bench.run(on_cpu), exit_code::try_again) << bench.said.err;
  bench.requests.stop_at = -1;
  bench.environment.resume_from = bench.checkpoint(5).string();
  ASSERT_EQ(bench.run(on_cpu), exit_code::done) << bench.said.err;
  auto resumed = checkpoint::digest(bench.checkpoint(12));
  ASSERT_TRUE(resumed) << resumed.error().message();
  EXPECT_EQ(*resumed, *straight);
  EXPECT_EQ(bench.said.all("LOSS"), (std::vector(losses.begin() + 5, losses.end())));
}

TEST_P(ResumeTest, ACheckpointOfAnotherArchitectureIsRefusedByItsName) {
  const bool gpt2 = std::string_view(GetParam()) == "gpt2_femto";
  WorkerBench bench;
  bench.training()["model"] = GetParam();
  ASSERT_EQ(bench.run(on_cpu), exit_code::done) << bench.said.err;
  bench.training()["model"] = gpt2 ? "femto_1x" : "gpt2_femto";
  bench.environment.resume_from = bench.checkpoint(12).string();
  EXPECT_EQ(bench.run(on_cpu), exit_code::configuration);
  EXPECT_NE(
      bench.said.err.find(gpt2 ? "holds a model of GPT-2, and the configuration trains one of "
                                 "AGILLM-3"
                               : "holds a model of AGILLM-3, and the configuration trains "
                                 "one of GPT-2"),
      std::string::npos)
      << bench.said.err;
}

}  // namespace
}  // namespace trainward::trainer

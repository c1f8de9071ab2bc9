// The examples in examples/pytorch as a user runs them, with the real PyTorch and a fault each.

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

class Examples : public World {
 protected:
  void SetUp() override {
    std::filesystem::copy(SOURCE_FOLDER "/examples", path("examples"),
                          std::filesystem::copy_options::recursive);
  }
  // The interpreter that has PyTorch need not be the first one in the path.
  bool pytorch_is_here() {
    const char* before = std::getenv("PATH");
    const std::string others = before == nullptr ? "/usr/bin:/bin" : before;
    for (const std::string& folders : {others, "/usr/bin:/bin:" + others}) {
      ::setenv("PATH", folders.c_str(), 1);
      if (end_of(start({"/usr/bin/env", "python3", "-c", "import torch"})) == 0) return true;
    }
    return false;
  }
  // Runs an example to its end, with values set: "NAME.KEY=VALUE".
  Output finish(const std::string& file, const std::vector<std::string>& values) {
    std::vector<std::string> arguments{"--once", "examples/pytorch/" + file};
    for (const std::string& value : values) {
      arguments.insert(arguments.end(), {"--set", "programs." + value});
    }
    return run("trainwardd", arguments);
  }
  // Two attempts: one that ended with this cause after about this step, one that is done.
  void expect(const std::string& name, const std::string& cause, std::int64_t from, std::int64_t to,
              std::int64_t kept, const Output& output) {
    EXPECT_EQ(output.code, 0) << output.out << output.err;
    const auto all = attempts(name);
    ASSERT_EQ(all.size(), 2U) << output.out;
    EXPECT_EQ(all[0].cause, cause) << all[0].verdict;
    EXPECT_THAT(all[0].last_step, AllOf(Ge(from), Le(to)));
    EXPECT_EQ(all[0].kept_step, kept);
    EXPECT_EQ(all[1].kept_step, 400);
    EXPECT_GT(all[1].first_step, kept);
    EXPECT_LE(all[1].first_step, kept + 100) << "a bar is not drawn at each step";
    EXPECT_EQ(all[1].last_step, 400);
    EXPECT_EQ(all[1].cause, "done");
    EXPECT_EQ(state(name), "EXITED");
    EXPECT_THAT(ctl({"--json", "why", name, "1"}).out,
                HasSubstr(fmt::format("\"cause\":\"{}\"", cause)));
  }
  // A training without an end that speaks the protocol, saves when it is stopped and goes on there.
  void write_with_callback(const std::string& script, const std::string& checkpoints) {
    write("run.yaml",
          "name: run\ncommand: python3 " + script +
              " --callback\ndirectory: examples/pytorch\nwatch: {protocol: true" + checkpoints +
              "}\ncheckpoints: {on_stop: true}\nenvironment: {EXAMPLE_STEPS: '100000'}\n");
  }
  store::AttemptRow run_until(std::size_t attempt, std::int64_t steps) {
    const pid_t daemon = start_daemon({"--once", "run.yaml"});
    wait_until([&] {
      const auto all = attempts();
      return all.size() >= attempt && all.back().last_step >= all.back().first_step + steps &&
             all.back().first_step > 0;
    });
    ask_to_end(daemon);
    EXPECT_EQ(end_of(daemon), 75) << daemon_log();
    return attempts().back();
  }
};

TEST_F(Examples, AreValid) {
  for (const char* name : {"hf_trainer", "nanogpt", "lightning", "torchrun", "jax"}) {
    const Output output =
        ctl({"config", "check", fmt::format(SOURCE_FOLDER "/examples/pytorch/{}.yaml", name)});
    EXPECT_EQ(output.code, 0) << output.out << output.err;
  }
}

TEST_F(Examples, TrainerOutOfMemoryWithItsOutputKeptBack) {
  if (!pytorch_is_here()) GTEST_SKIP() << "PyTorch is not installed for python3";
  expect("hf", "device_oom", 249, 249, 200,
         finish("hf_trainer.yaml",
                {"hf.environment.EXAMPLE_FAULT=oom@250", "hf.environment.EXAMPLE_BUFFERED=1"}));
}

TEST_F(Examples, ALoopOfOnesOwnWhoseLossIsNoNumberGoesOnFromBefore) {
  if (!pytorch_is_here()) GTEST_SKIP() << "PyTorch is not installed for python3";
  expect("nanogpt", "nan", 252, 399, 200,
         finish("nanogpt.yaml", {"nanogpt.environment.EXAMPLE_FAULT=nan@250"}));
  const auto all = attempts("nanogpt");
  EXPECT_EQ(all.back().resume_step, 200) << "what was saved since is not gone on from";
  EXPECT_EQ(all.back().first_step, 201);
}

TEST_F(Examples, LightningThatStandsStill) {
  if (!pytorch_is_here()) GTEST_SKIP() << "PyTorch is not installed for python3";
  expect("lightning", "hang", 220, 249, 200,
         finish("lightning.yaml",
                {"lightning.environment.EXAMPLE_FAULT=hang@250",
                 "lightning.deadlines.train_floor=3s", "lightning.deadlines.load=10s"}));
}

TEST_F(Examples, ARankUnderTorchrunThatIsKilled) {
  if (!pytorch_is_here()) GTEST_SKIP() << "PyTorch is not installed for python3";
  expect("torchrun", "host_oom", 240, 250, 200,
         finish("torchrun.yaml", {"torchrun.environment.EXAMPLE_FAULT=kill@250"}));
  // The other rank lost its connection, which is told first and explains nothing.
  EXPECT_THAT(attempts("torchrun").front().verdict,
              HasSubstr("Signal 9 (SIGKILL) received by PID"));
}

TEST_F(Examples, AJaxLoopOutOfMemory) {
  if (end_of(start({"/usr/bin/env", "python3", "-c", ""})) != 0) {
    GTEST_SKIP() << "python3 is not here";
  }
  expect("jax", "device_oom", 240, 240, 200,
         finish("jax.yaml", {"jax.environment.EXAMPLE_FAULT=oom@250"}));
}

TEST_F(Examples, TrainersCallbackSavesWhenItIsStopped) {
  if (!pytorch_is_here()) GTEST_SKIP() << "PyTorch is not installed for python3";
  write_with_callback("hf_trainer.py", ", checkpoints: ['out/checkpoint-*']");
  const auto first = run_until(1, 20);
  EXPECT_EQ(first.exit_code, 75);
  EXPECT_EQ(first.kept_step, first.last_step);
  EXPECT_TRUE(std::filesystem::exists(
      path(fmt::format("examples/pytorch/out/checkpoint-{}/trainer_state.json", first.last_step))));
  EXPECT_EQ(run_until(2, 5).first_step, first.last_step + 1);
}

TEST_F(Examples, LightningsCallbackSavesWhenItIsStopped) {
  if (!pytorch_is_here()) GTEST_SKIP() << "PyTorch is not installed for python3";
  write_with_callback("lightning_fit.py", ", checkpoints: ['{checkpoint_dir}/*.ckpt']");
  const auto first = run_until(1, 20);
  EXPECT_EQ(first.exit_code, 75);
  EXPECT_EQ(first.kept_step, first.last_step);
  const auto second = run_until(2, 5);
  EXPECT_EQ(second.resume_step, first.last_step);
  EXPECT_EQ(second.first_step, first.last_step + 1);
}

}  // namespace
}  // namespace trainward::e2e

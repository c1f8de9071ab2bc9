// Scripts in frameworks' styles (frameworks/), each with three lines of configuration and one
// fault.
//
// Each was written from its framework's documentation before a look at the readers and rules here.
// None says to anybody that it is watched; each finds its own newest checkpoint, of which Trainward
// is told where to look.

#include <gmock/gmock.h>

#include <array>
#include <cstdlib>
#include <ostream>

#include "world.hpp"

namespace trainward::e2e {
namespace {

using testing::AllOf;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;

struct Style {
  const char* script;
  const char* watch;       // the third line
  const char* recognised;  // empty: that it is not, is said
  const char* cause;       // of the fault
  const char* evidence;
  std::int64_t seen_from;  // the last step that was told before the fault, between these
  std::int64_t seen_to;
  std::int64_t goes_on_after;
  std::int64_t last;
};

void PrintTo(const Style& style, std::ostream* out) { *out << style.script << ' ' << style.watch; }

constexpr std::array styles{
    Style{"hf_trainer", "{checkpoints: ['out/checkpoint-*']}", "the output of Hugging Face Trainer",
          "device_oom", "CUDA out of memory", 332, 332, 300, 400},
    Style{"trl_sft", "{checkpoints: ['out/checkpoint-*']}", "the output of Hugging Face Trainer",
          "nan", "is nan", 510, 999, 500, 1000},
    Style{"accelerate_loop", "{checkpoints: ['step_*']}", "", "network", "Max retries exceeded", 0,
          0, 300, 0},
    Style{"accelerate_loop", "{preset: accelerate, checkpoints: ['step_*']}", "a progress bar",
          "network", "Max retries exceeded", 300, 332, 300, 400},
    Style{"lightning_fit", "{checkpoints: ['lightning_logs/*/checkpoints/*.ckpt']}",
          "the output of Lightning", "host_oom", "shared memory", 332, 332, 300, 400},
    Style{"nanogpt", "{checkpoints: ['out/ckpt.pt']}", "the output of nanoGPT", "hang",
          "no progress", 300, 632, 599, 800},
    Style{"megatron", "{checkpoints: ['ckpt/iter_*']}", "the output of Megatron-LM", "nan",
          "found NaN in local forward", 332, 332, 300, 400},
    Style{"torchtune_recipe", "{checkpoints: ['out/epoch_*']}", "the output of torchtune", "disk",
          "unexpected pos", 300, 300, 200, 400},
    Style{"torchtitan_train", "{checkpoints: ['outputs/checkpoint/step-*']}",
          "the output of torchtitan", "hang", "Watchdog caught collective operation timeout", 330,
          330, 300, 400},
    Style{"deepspeed_train", "{checkpoints: ['ckpt/global_step*']}", "the output of DeepSpeed",
          "host_oom", "exits with return code = -9", 330, 330, 300, 400},
    Style{"keras_fit", "{checkpoints: ['backup/latest.weights.h5']}", "the output of Keras", "data",
          "DataLossError", 301, 332, 300, 400},
    Style{"flax_loop", "{checkpoints: ['ckpt/*']}", "the output of CLU's metric writers",
          "device_oom", "RESOURCE_EXHAUSTED", 330, 330, 300, 400},
};

class Frameworks : public World, public testing::WithParamInterface<Style> {
 protected:
  void SetUp() override {
    if (end_of(start({"/usr/bin/env", "python3", "-c", ""})) != 0) {
      GTEST_SKIP() << "python3 is not here";
    }
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);  // the scripts lie in the source folder
  }
};

TEST_P(Frameworks, IsSeenAndItsFaultIsNamedAndItGoesOn) {
  const Style& style = GetParam();
  write("run.yaml", fmt::format("name: run\ncommand: python3 " SOURCE_FOLDER
                                "/tests/e2e/frameworks/{}.py\nwatch: {}\n",
                                style.script, style.watch));
  // What is allowed is less than the time between two blocks of output of the one that hangs.
  const Output output =
      run("trainwardd", {"--once", "run.yaml", "--set", "programs.run.deadlines.train_floor=2s",
                         "--set", "programs.run.deadlines.load=2s"});
  EXPECT_EQ(output.code, 0) << output.out << output.err;
  const auto all = attempts();
  ASSERT_EQ(all.size(), 2U) << output.out;
  EXPECT_EQ(all[0].cause, style.cause) << all[0].verdict;
  EXPECT_THAT(all[0].verdict, HasSubstr(style.evidence));
  EXPECT_THAT(all[0].last_step, AllOf(Ge(style.seen_from), Le(style.seen_to)));
  EXPECT_EQ(all[1].cause, "done") << all[1].verdict;
  EXPECT_EQ(all[1].last_step, style.last);
  // A bar is not drawn at each step: the first one that is seen is a little later.
  if (style.last > 0) {
    EXPECT_GT(all[1].first_step, style.goes_on_after);
  }
  EXPECT_LE(all[1].first_step, style.goes_on_after + 60);
  EXPECT_THAT(all[0].kept_step, AllOf(Ge(style.goes_on_after - 60), Le(style.goes_on_after + 1)));
  EXPECT_THAT(ctl({"--json", "why", "run", "1"}).out,
              HasSubstr(fmt::format("\"cause\":\"{}\"", style.cause)));
  const std::string said = *style.recognised == '\0'
                               ? "no steps were recognised"
                               : fmt::format("recognised {}", style.recognised);
  EXPECT_THAT(ctl({"events", "run"}).out, HasSubstr(said));
}

INSTANTIATE_TEST_SUITE_P(All, Frameworks, testing::ValuesIn(styles), [](const auto& tested) {
  const bool named = std::string_view(tested.param.watch).find("preset") != std::string_view::npos;
  return std::string(tested.param.script) + (named ? "_by_name" : "");
});

}  // namespace
}  // namespace trainward::e2e

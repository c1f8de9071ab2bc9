// The commands around a device, on the simulated one: lower, compile, check.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "tokenizers.hpp"
#include "trainer/loop/setup/device_setup.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "trainer/worker/commands/check.hpp"
#include "trainer/worker/commands/compile.hpp"
#include "trainer/worker/commands/lower_command.hpp"
#include "trainer/worker/commands/tensor_agreement.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

class DeviceCommandsTest : public testing::Test {
 protected:
  DeviceCommandsTest() { write({{"plugin", SIM_N300_PLUGIN}, {"threads", 1}}); }

  void write(const json::object& device) {
    bench_.training()["learning_rate"] = 0.01;
    std::ofstream(file_) << json::serialize(
        json::object{{"training_config", bench_.training()}, {"device_config", device}});
  }
  // A Llama of its own sizes, on answers that are packed in rows.
  void become_llama() {
    const auto rows = bench_.folder() / "pairs.jsonl";
    std::ofstream lines(rows);
    for (int i = 0; i < 60; ++i) {
      lines << json::serialize(json::object{{"prompt", fmt::format("number {}", i)},
                                            {"response", std::string(1U + i % 7U, 'x')}})
            << '\n';
    }
    const auto tokenizer = bench_.folder() / "tokenizer.json";
    std::ofstream(tokenizer) << json::serialize(chatml_json());
    json::object& training = bench_.training();
    training.erase("model");
    training["llama"] = json::object{{"hidden", 36},          {"layers", 2},   {"heads", 6},
                                     {"kv_heads", 2},         {"head_dim", 8}, {"intermediate", 50},
                                     {"attention_bias", true}};
    training["data"] = json::array{rows.string()};
    training["data_form"] = "examples";
    training["tokenizer"] = tokenizer.string();
    training["prompt_format"] = "chatml";
    training["packing"] = true;
    training["block_size"] = 64;
    write({{"plugin", SIM_N300_PLUGIN}, {"threads", 1}});
  }
  CommandPorts ports() {
    return {bench_.requests, [this](std::string_view text) { out_ += text; },
            [this](std::string_view text) { err_ += text; }, [] { return 0; },
            [] { return ProgressBar::Time{}; }};
  }

  WorkerBench bench_;
  std::string file_ = (bench_.folder() / "config.json").string();
  std::string out_, err_;
};

TEST_F(DeviceCommandsTest, LowerWritesEachProgram) {
  const auto folder = bench_.folder() / "programs";
  ASSERT_EQ(run_lower({file_, folder}, ports()), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("block_backward.mlir: "));
  std::ifstream text(folder / "block_forward.mlir");
  const std::string program{std::istreambuf_iterator<char>(text), {}};
  EXPECT_THAT(program, HasSubstr("func.func public @main("));
  EXPECT_THAT(program, testing::Not(HasSubstr("tf.aliasing_output")));
  EXPECT_FALSE(std::filesystem::exists(folder / "embed.mlir")) << "it stays on the host";
}

TEST_F(DeviceCommandsTest, CheckFindsADeviceThatAgrees) {
  CheckOptions options{file_};
  options.steps = 3;
  ASSERT_EQ(run_check(options, ports(), make_model), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("step 3: loss "));
  EXPECT_THAT(out_, HasSubstr("The device agrees with the CPU"));
  out_.clear();
  options.json = true;
  ASSERT_EQ(run_check(options, ports(), make_model), exit_code::done) << err_;
  const json::value found = json::parse(out_);
  EXPECT_TRUE(found.at("agrees").as_bool());
  EXPECT_GT(found.at("gradients").as_array().front().at("correlation").as_double(), 0.9999);
}

TEST_F(DeviceCommandsTest, LowerAndCheckKnowEveryKindOfModelAndData) {
  become_llama();
  const auto folder = bench_.folder() / "programs";
  ASSERT_EQ(run_lower({file_, folder}, ports()), exit_code::done) << err_;
  std::ifstream text(folder / "block_forward.mlir");
  const std::string program{std::istreambuf_iterator<char>(text), {}};
  EXPECT_THAT(program, HasSubstr("%arg1: tensor<2x64xi32>")) << "which text a token is of";
  EXPECT_THAT(program, HasSubstr("tensor<50x36xf32>"));
  out_.clear();
  CheckOptions options{file_};
  options.steps = 2;
  ASSERT_EQ(run_check(options, ports(), make_model), exit_code::done) << out_ << err_;
  EXPECT_THAT(out_, HasSubstr("gradients of 29 parameters"));
}

// A device whose first block's gradients point elsewhere.
TEST_F(DeviceCommandsTest, CheckFindsADeviceThatDoesNot) {
  const MakeModel wrong = [](const WorkerConfig& config, const WorkerEnvironment&,
                             const BaseWeights*, Reporter&) {
    TrainingSpec spec = config.training;
    spec.label_smoothing = 0.9;
    return make_cpu_model(spec);
  };
  EXPECT_EQ(run_check({file_}, ports(), wrong), exit_code::failed);
  EXPECT_THAT(out_, HasSubstr("does NOT agree"));
}

TEST_F(DeviceCommandsTest, CheckNeedsADevice) {
  write({{"threads", 1}});
  EXPECT_EQ(run_check({file_}, ports(), make_model), exit_code::configuration);
  EXPECT_THAT(err_, HasSubstr("device_config.plugin"));
}

TEST_F(DeviceCommandsTest, CompileSaysWhenThereIsNothingItCanDo) {
  WorkerEnvironment environment;
  EXPECT_EQ(run_compile({file_}, environment, ports()), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("TRAINWARD_PROGRAM_CACHE"));
  environment.program_cache = (bench_.folder() / "cache").string();
  EXPECT_EQ(run_compile({file_}, environment, ports()), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("compiles only on its device"));
  write({{"threads", 1}});
  EXPECT_EQ(run_compile({file_}, environment, ports()), exit_code::done) << err_;
  EXPECT_THAT(out_, HasSubstr("CPU executor"));
}

checkpoint::TensorView view(const std::string& name, const std::vector<float>& values) {
  return {{name, checkpoint::DType::f32, {static_cast<std::int64_t>(values.size())}},
          std::as_bytes(std::span(values))};
}

TEST(TensorAgreement, KnowsTheDirectionFromTheSize) {
  const std::vector<float> x{1, 2, -3, 4};
  const std::vector<float> twice{2, 4, -6, 8};
  const std::vector<float> opposite{-1, -2, 3, -4};
  const std::vector<float> zero(4);
  const std::vector<float> nan{1, NAN, -3, 4};
  const std::vector<float> constant{5, 5, 5, 5};
  const auto agreement = [&](const std::vector<float>& a, const std::vector<float>& b) {
    return compare_tensors({view("t", a)}, {view("t", b)}).front();
  };
  EXPECT_DOUBLE_EQ(agreement(x, x).correlation, 1);
  EXPECT_DOUBLE_EQ(agreement(x, x).difference, 0);
  EXPECT_DOUBLE_EQ(agreement(x, twice).correlation, 1);
  EXPECT_DOUBLE_EQ(agreement(x, twice).difference, 1);
  EXPECT_DOUBLE_EQ(agreement(x, opposite).correlation, -1);
  EXPECT_DOUBLE_EQ(agreement(x, zero).correlation, 0);
  EXPECT_DOUBLE_EQ(agreement(zero, zero).correlation, 1);
  EXPECT_DOUBLE_EQ(agreement(x, nan).correlation, 0);
  EXPECT_DOUBLE_EQ(agreement(constant, constant).correlation, 1);
  EXPECT_DOUBLE_EQ(compare_tensors({view("t", x)}, {}).front().correlation, 0);
}

TEST(TensorAgreement, TheWorstComesFirst) {
  const std::vector<float> x{1, 2, -3, 4};
  const std::vector<float> near{1, 2, -3, 5};
  const auto all = compare_tensors({view("a", x), view("b", x)}, {view("b", near), view("a", x)});
  EXPECT_EQ(all[0].name, "b");
  EXPECT_EQ(all[1].name, "a");
}

}  // namespace
}  // namespace trainward::trainer

// What a correct file becomes.
#include <gmock/gmock.h>

#include "fixture.hpp"

namespace trainward::config {
namespace {

using testing::ElementsAre;

TEST_F(ConfigTest, FillsInEveryDefault) {
  const auto config = load_text("programs:\n  a:\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_EQ(config->file, folder_ / "c.yaml");
  EXPECT_EQ(config->state_dir, folder_ / "work/.trainward");
  EXPECT_EQ(config->socket, folder_ / "work/.trainward/trainward.sock");
  EXPECT_EQ(config->database, folder_ / "work/.trainward/trainward.db");
  EXPECT_EQ(config->log_level, "info");
  EXPECT_TRUE(config->rules.empty());
  ASSERT_EQ(config->programs.size(), 1U);
  const Program& program = config->programs[0];
  EXPECT_EQ(program.name, "a");
  EXPECT_TRUE(program.autostart);
  EXPECT_EQ(program.autorestart, Autorestart::unexpected);
  EXPECT_TRUE(program.command.empty());
  EXPECT_EQ(program.directory, folder_);
  EXPECT_FALSE(program.host);
  EXPECT_EQ(program.checkpoints_keep, 3);
  EXPECT_EQ(program.deadlines, Deadlines{});
  EXPECT_EQ(program.budgets, Budgets{});
  EXPECT_EQ(program.backoff, Backoff{});
  EXPECT_EQ(
      json::serialize(program.worker),
      R"({"training_config":{"model":"micro_3x","steps":300,"batch_size":8,"block_size":128,)"
      R"("learning_rate":3E-3,"head_learning_rate":3E-3,"weight_decay":1E-2,"beta1":9E-1,)"
      R"("beta2":9.99E-1,"epsilon":1E-8,"gradient_clip":1E0,"warmup_steps":0,"schedule":"constant",)"
      R"("final_learning_rate_share":1E-1,"tie_weights":false,"accumulation":1,"dropout":0E0,"label_smoothing":0E0,)"
      R"("recompute":false,"precision":"f32","seed":1234,"evaluate_every":0,"evaluation_blocks":32,)"
      R"("checkpoint_every":10,"checkpoint_async":true,"checkpoint_shard_mib":0,"data":["/usr/share/common-licenses"],)"
      R"("data_format":"auto","tokenizer":"byte","end_of_text":"","vocabulary":0},)"
      R"("device_config":{"device":"cpu","threads":2,"mesh_shape":[1,1],"enable_ddp":false,"plugin":"","options":{},"placement":"host","attention":"auto","cache_limit":8589934592},"logging_config":{"log_every":1}})");
}

TEST_F(ConfigTest, APluginAndWhatItIsGiven) {
  write("data/plugin.so", "");
  const auto device_of = [&](const std::string& section,
                             const std::vector<std::string>& overrides = {}) {
    const auto config =
        load_text("programs:\n  a:\n    device_config: {" + section + "}\n", overrides);
    EXPECT_TRUE(config) << config.error().front().text();
    return config->programs.at(0).worker.at("device_config").as_object();
  };
  EXPECT_EQ(
      json::serialize(device_of(
          "plugin: data/plugin.so, mesh_shape: [1, 2], enable_ddp: true, cache_limit: 1GiB, "
          "placement: device, options: {text: a b, whole: -5, quoted: '5', real: 2.0, "
          "yes: true, list: [1, 2], none: []}")),
      R"({"device":"pjrt","threads":2,"mesh_shape":[1,2],"enable_ddp":true,"plugin":")" +
          (folder_ / "data/plugin.so").string() +
          R"(","options":{"text":"a b","whole":-5,"quoted":"5","real":2E0,"yes":true,)" +
          R"("list":[1,2],"none":[]},"placement":"device","attention":"auto","cache_limit":1073741824})");
  EXPECT_EQ(device_of("plugin: sim_n300").at("plugin").as_string(), "sim_n300");
  EXPECT_EQ(device_of("plugin: sim_n300").at("device").as_string(), "pjrt");
  EXPECT_EQ(device_of("plugin: sim_n300, device: cpu").at("device").as_string(), "cpu");
  // A path of the command line counts from where it was typed.
  write("work/other.so", "");
  EXPECT_EQ(device_of("plugin: sim_n300", {"programs.a.device_config.plugin=other.so"})
                .at("plugin")
                .as_string(),
            (folder_ / "work/other.so").string());
}

TEST_F(ConfigTest, ReadsEveryKey) {
  write("host.yaml", "");
  write("rules.yaml", "");
  const auto config = load_text(R"(
state_dir: state
socket: run/s.sock
log_level: debug
rules: rules.yaml
programs:
  my.run-1:
    autostart: false
    autorestart: always
    directory: data
    environment: {OMP_NUM_THREADS: "2", RATE: 0.10}
    training_config:
      {model: nano_96x, steps: 1, batch_size: 2, block_size: 3, learning_rate: 1,
       head_learning_rate: 0.5, weight_decay: 0, beta1: 0, beta2: 0.5, epsilon: 1.0e-6,
       gradient_clip: 0.5, warmup_steps: 7, schedule: cosine, final_learning_rate_share: 0.2,
       accumulation: 4, dropout: 0.1, label_smoothing: 0.05, tie_weights: true, recompute: true,
       precision: bf16, seed: 0, checkpoint_every: 5, data: [data, c.yaml],
       data_format: u32, tokenizer: host.yaml, end_of_text: <end>, vocabulary: 300}
    device_config: {device: cpu, threads: 4, host: host.yaml}
    logging_config: {log_every: 9}
    checkpoints: {keep: 1}
    deadlines: {start: 1s, load: 2min, compile: 1.5h, train_floor: 200ms, save: 1d, evaluate: 7s, stop: 3s,
                reset: 4s}
    budgets: {attempts: 9, attempts_without_progress: 2, time_without_progress: 3h}
    backoff: {first: 0s, max: 1s}
)");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_EQ(config->state_dir, folder_ / "work/state");
  EXPECT_EQ(config->socket, folder_ / "run/s.sock");
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->rules, folder_ / "rules.yaml");
  const Program& program = config->programs.at(0);
  EXPECT_FALSE(program.autostart);
  EXPECT_EQ(program.autorestart, Autorestart::always);
  EXPECT_EQ(program.directory, folder_ / "data");
  // Environment values keep their spelling, quoted or not.
  EXPECT_EQ(program.environment.at("OMP_NUM_THREADS").text(), "2");
  EXPECT_EQ(program.environment.at("RATE").text(), "0.10");
  EXPECT_EQ(program.host, folder_ / "host.yaml");
  EXPECT_EQ(program.checkpoints_keep, 1);
  EXPECT_EQ(program.deadlines,
            (Deadlines{1'000, 120'000, 5'400'000, 200, 86'400'000, 7'000, 3'000, 4'000}));
  EXPECT_EQ(program.budgets, (Budgets{9, 2, 10'800'000}));
  EXPECT_EQ(program.backoff, (Backoff{0, 1'000}));
  const json::object& training = program.worker.at("training_config").as_object();
  EXPECT_EQ(training.at("model").as_string(), "nano_96x");
  EXPECT_EQ(training.at("learning_rate").as_double(), 1.0);
  EXPECT_EQ(training.at("warmup_steps").as_int64(), 7);
  EXPECT_EQ(training.at("schedule").as_string(), "cosine");
  EXPECT_EQ(training.at("precision").as_string(), "bf16");
  EXPECT_EQ(training.at("final_learning_rate_share").as_double(), 0.2);
  EXPECT_EQ(training.at("accumulation").as_int64(), 4);
  EXPECT_EQ(training.at("dropout").as_double(), 0.1);
  EXPECT_EQ(training.at("label_smoothing").as_double(), 0.05);
  EXPECT_TRUE(training.at("tie_weights").as_bool());
  EXPECT_TRUE(training.at("recompute").as_bool());
  EXPECT_EQ(training.at("data").as_array().at(0).as_string(), (folder_ / "data").string());
  EXPECT_EQ(training.at("data_format").as_string(), "u32");
  EXPECT_EQ(training.at("tokenizer").as_string(), (folder_ / "host.yaml").string());
  EXPECT_EQ(training.at("end_of_text").as_string(), "<end>");
  EXPECT_EQ(training.at("vocabulary").as_int64(), 300);
  EXPECT_EQ(program.worker.at("logging_config").at("log_every").as_int64(), 9);
}

TEST_F(ConfigTest, ForeignCommandHasNoWorkerSections) {
  const auto config = load_text(
      "programs:\n  a:\n    command: [python3, train.py, --steps, 5]\n    directory: .\n");
  ASSERT_TRUE(config) << config.error().front().text();
  EXPECT_THAT(foreign::fill(config->programs[0].command, {}),
              ElementsAre("python3", "train.py", "--steps", "5"));
  EXPECT_EQ(config->programs[0].directory, folder_);
  EXPECT_TRUE(config->programs[0].worker.empty());
}

TEST_F(ConfigTest, OverridesReplaceAndAddValues) {
  const auto config = load_text(
      "programs:\n  a:\n    training_config: {steps: 5}\n  a.b:\n    budgets: {attempts: 1}\n",
      {"programs.a.training_config.steps=50", "programs.a.b.budgets.attempts=7",
       "programs.a.deadlines.stop=5s", "log_level=error", "programs.a.training_config.data=[.]"});
  ASSERT_TRUE(config) << config.error().front().text();
  const json::object& training = config->programs[0].worker.at("training_config").as_object();
  EXPECT_EQ(training.at("steps").as_int64(), 50);
  // A path typed on the command line means the folder it was typed in.
  EXPECT_EQ(training.at("data").as_array().at(0).as_string(), (folder_ / "work/").string());
  EXPECT_EQ(config->programs[0].deadlines.stop_ms, 5'000);
  EXPECT_EQ(config->programs[1].budgets.attempts, 7);
  EXPECT_EQ(config->log_level, "error");
}

TEST_F(ConfigTest, DigestFollowsTheMeaningNotTheSpelling) {
  const auto digest = [&](const std::string& text) {
    const auto config = load_text(text);
    return config ? config->programs.at(0).digest : config.error().front().text();
  };
  const std::string first = digest(
      "programs:\n  a:\n    training_config: {steps: 5, seed: 6}\n    backoff: {first: 1s}\n");
  EXPECT_EQ(first.size(), 64U);
  EXPECT_EQ(first, digest("# same\nprograms: {a: {backoff: {first: 1000ms}, "
                          "training_config: {seed: 6, steps: 5}}}\n"));
  EXPECT_NE(first, digest("programs:\n  a:\n    training_config: {steps: 5, seed: 7}\n"));
}

TEST_F(ConfigTest, JsonNamesEverything) {
  const auto config = load_text("programs:\n  a:\n    backoff: {first: 2s}\n");
  ASSERT_TRUE(config);
  const json::object out = to_json(config->programs[0]);
  EXPECT_EQ(out.at("name").as_string(), "a");
  EXPECT_EQ(out.at("backoff").at("first_ms").as_int64(), 2000);
  EXPECT_EQ(out.at("digest").as_string(), config->programs[0].digest);
  EXPECT_TRUE(out.at("host").is_null());
}

TEST(ShippedExample, Loads) {
  const std::filesystem::path examples = std::filesystem::path(SOURCE_FOLDER) / "examples";
  const auto config = load(examples / "quickstart.yaml", "/tmp");
  ASSERT_TRUE(config) << config.error().front().text();
  ASSERT_EQ(config->programs.size(), 1U);
  const Program& program = config->programs[0];
  EXPECT_EQ(program.name, "quickstart");
  EXPECT_EQ(program.host, examples / "hosts/two-n300.yaml");
  EXPECT_EQ(program.deadlines.train_floor_ms, 3'000);
  EXPECT_EQ(program.backoff.first_ms, 200);
  EXPECT_EQ(config->state_dir, "/tmp/.trainward");
}

TEST(ShippedExample, ForGpusLoads) {
  const std::filesystem::path examples = std::filesystem::path(SOURCE_FOLDER) / "examples";
  const auto config = load(examples / "nvidia.yaml", "/tmp");
  ASSERT_TRUE(config) << config.error().front().text();
  const Program& program = config->programs.at(0);
  EXPECT_TRUE(program.needs_board);
  EXPECT_EQ(program.probe_command.size(), 3U);
  EXPECT_TRUE(program.environment.at("CUDA_VISIBLE_DEVICES").names("serial"));
}

TEST(ShippedExample, ForTheHubLoads) {
  const std::filesystem::path examples = std::filesystem::path(SOURCE_FOLDER) / "examples";
  const auto config = load(examples / "hub.yaml", "/tmp");
  ASSERT_TRUE(config) << config.error().front().text();
  const orders::Upload& upload = config->programs.at(0).upload;
  EXPECT_TRUE(upload.restore);
  EXPECT_EQ(upload.targets.at(0).cadence.every_ms, 30 * 60'000);
  EXPECT_EQ(std::get<orders::HubPlace>(upload.targets.at(0).place).repo, "me/pretrain");
}

}  // namespace
}  // namespace trainward::config

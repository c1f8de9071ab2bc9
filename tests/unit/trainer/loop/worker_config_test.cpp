#include "trainer/loop/setup/worker_config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "temporary_folder.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

json::object minimal() {
  return {{"training_config", json::object{{"data", json::array{"/usr/share/common-licenses"}}}}};
}

json::object with(std::string_view section, std::string_view key, json::value value) {
  json::object config = minimal();
  if (!config.contains(section)) config[section] = json::object{};
  config[section].as_object()[key] = std::move(value);
  return config;
}

Error error_of(const json::object& config) {
  auto read = read_worker_config(config);
  return read ? Error{ErrorKind::permanent, "no error", "", ""} : read.error();
}

TEST(WorkerConfigFile, YamlIsToldHowItBecomesOurs) {
  const TemporaryFolder folder;
  folder.write("tiny.yaml", "programs: {}\n");
  const auto yaml = load_worker_config((folder.path() / "tiny.yaml").string());
  ASSERT_FALSE(yaml);
  EXPECT_EQ(yaml.error().kind, ErrorKind::usage);
  EXPECT_THAT(yaml.error().message(), HasSubstr("trainwardctl config worker "));
}

TEST(WorkerConfigTest, KeepsTheDefaultsOfAbsentKeys) {
  auto config = read_worker_config(minimal());
  ASSERT_TRUE(config) << config.error().message();
  EXPECT_EQ(config->steps, 300);
  EXPECT_EQ(config->training.model, (ModelSpec{128, 4, 8, 48, 257}));
  EXPECT_EQ(config->training.sequences_per_step(), 8);
  EXPECT_EQ(config->training.block_size, 128);
  EXPECT_EQ(config->digest.size(), 64U);
}

TEST(WorkerConfigTest, ReadsEveryKey) {
  auto parsed = parse_json(R"({
    "training_config": {"model": "nano_1x", "steps": 9, "batch_size": 3, "block_size": 16,
      "learning_rate": 0.5, "head_learning_rate": 1, "weight_decay": 0.25, "beta1": 0.5,
      "beta2": 0.75, "epsilon": 1e-6, "gradient_clip": 2.5, "warmup_steps": 6, "schedule": "cosine",
      "final_learning_rate_share": 0.2, "accumulation": 4, "dropout": 0.1,
      "label_smoothing": 0.05, "tie_weights": true, "recompute": true, "precision": "bf16", "seed": 77,
      "evaluate_every": 5, "evaluation_blocks": 7,
      "checkpoint_every": 4, "data": ["a", "b"]},
    "device_config": {"device": "cpu", "threads": 5},
    "logging_config": {"log_every": 8}})",
                           "test");
  ASSERT_TRUE(parsed);
  auto config = read_worker_config(parsed->as_object());
  ASSERT_TRUE(config) << config.error().message();
  const TrainingSpec& t = config->training;
  EXPECT_EQ(t.model.width, 64);
  EXPECT_EQ(t.batch_size, 3);
  EXPECT_EQ(t.block_size, 16);
  EXPECT_EQ(t.learning_rate, 0.5);
  EXPECT_EQ(t.head_learning_rate, 1.0);
  EXPECT_EQ(t.weight_decay, 0.25);
  EXPECT_EQ(t.beta1, 0.5);
  EXPECT_EQ(t.beta2, 0.75);
  EXPECT_EQ(t.epsilon, 1e-6);
  EXPECT_EQ(t.gradient_clip, 2.5);
  EXPECT_EQ(t.schedule.warmup_steps, 6);
  EXPECT_EQ(t.schedule.shape, optim::Schedule::Shape::cosine);
  EXPECT_EQ(t.schedule.total_steps, 9);
  EXPECT_EQ(t.schedule.final_share, 0.2);
  EXPECT_EQ(t.accumulation, 4);
  EXPECT_EQ(t.dropout, 0.1);
  EXPECT_EQ(t.label_smoothing, 0.05);
  EXPECT_TRUE(t.model.tied);
  EXPECT_TRUE(t.recompute);
  EXPECT_EQ(t.precision, graph::Precision::bf16);
  EXPECT_EQ(config->training.sequences_per_step(), 3 * 4);
  EXPECT_EQ(config->training.block_size, 16);
  EXPECT_EQ(t.seed, 77U);
  EXPECT_EQ(t.threads, 5);
  EXPECT_EQ(config->steps, 9);
  EXPECT_EQ(config->checkpoint_every, 4);
  EXPECT_EQ(config->log_every, 8);
  EXPECT_EQ(config->evaluate_every, 5);
  EXPECT_EQ(config->held_out(), 7);
  EXPECT_THAT(config->data, testing::ElementsAre("a", "b"));
}

TEST(WorkerConfigTest, NamesTheNearestOfAnUnknownKey) {
  const Error key = error_of(with("training_config", "batchsize", 8));
  EXPECT_EQ(key.kind, ErrorKind::usage);
  EXPECT_EQ(key.where, "training_config.batchsize");
  EXPECT_EQ(key.hint, "did you mean 'batch_size'?");
  EXPECT_EQ(error_of(with("device_config", "thread", 2)).hint, "did you mean 'threads'?");
  EXPECT_EQ(error_of(with("loging_config", "log_every", 2)).hint, "did you mean 'logging_config'?");
}

TEST(WorkerConfigTest, NamesTheUnknownKeyBeforeWhatIsMissing) {
  json::object config{{"training_config", json::object{{"dat", json::array{"a"}}}}};
  EXPECT_EQ(error_of(config).where, "training_config.dat");
}

TEST(WorkerConfigTest, RefusesWrongTypes) {
  EXPECT_THAT(error_of(with("training_config", "steps", "many")).message(),
              HasSubstr("training_config.steps: is \"many\", expected a whole number"));
  EXPECT_THAT(error_of(with("training_config", "steps", 1.5)).what, HasSubstr("a whole number"));
  EXPECT_THAT(error_of(with("training_config", "data", "/a")).what, HasSubstr("a list of text"));
  EXPECT_THAT(error_of(with("training_config", "data", json::array{1})).what,
              HasSubstr("a list of text"));
  EXPECT_THAT(error_of(with("training_config", "beta1", "x")).what, HasSubstr("a number"));
  EXPECT_THAT(error_of(with("training_config", "model", 3)).what, HasSubstr("text"));
  json::object config = minimal();
  config["device_config"] = 3;
  EXPECT_EQ(error_of(config).where, "device_config");
}

TEST(WorkerConfigTest, RefusesWhatIsOutOfRange) {
  const std::vector<std::pair<std::string_view, json::value>> bad{
      {"steps", -1},           {"batch_size", 0},    {"block_size", 1},   {"seed", -1},
      {"learning_rate", -0.1}, {"beta1", 1.0},       {"weight_decay", 2}, {"epsilon", 0},
      {"checkpoint_every", 0}, {"warmup_steps", -1}, {"seed", UINT64_MAX}};
  for (const auto& [key, value] : bad) {
    const Error error = error_of(with("training_config", key, value));
    EXPECT_EQ(error.where, fmt::format("training_config.{}", key));
    EXPECT_THAT(error.what, HasSubstr("expected"));
  }
  EXPECT_THAT(error_of(with("training_config", "steps", 0)).message(),
              HasSubstr("training_config.steps: is 0, and no num_epochs says how long the run is"));
  EXPECT_EQ(error_of(with("device_config", "threads", 0)).where, "device_config.threads");
  EXPECT_THAT(error_of(with("training_config", "precision", "fp8")).message(),
              HasSubstr("training_config.precision: is 'fp8', expected 'f32' or 'bf16'"));
  EXPECT_THAT(error_of(with("device_config", "device", "gpu")).what, HasSubstr("expected 'cpu'"));
  EXPECT_EQ(error_of(with("device_config", "device", "pjrt")).where, "device_config.plugin");
  EXPECT_THAT(error_of(with("device_config", "placement", "moon")).what, HasSubstr("'host'"));
  EXPECT_THAT(
      error_of(with("device_config", "options", json::object{{"x", json::array{"a"}}})).message(),
      HasSubstr("device_config.options: 'x' is not"));
  EXPECT_EQ(error_of(with("training_config", "model", "mikro_3x")).hint,
            "did you mean 'micro_3x'?");
}

TEST(WorkerConfigTest, RefusesMissingData) {
  EXPECT_EQ(error_of(json::object{}).where, "training_config");
  EXPECT_EQ(error_of({{"training_config", json::object{}}}).where, "training_config.data");
}

TEST(WorkerConfigTest, FitsTheModelToTheData) {
  auto config = read_worker_config(minimal());
  ASSERT_TRUE(config);
  const std::string bytes = config->digest;
  // Written down: another digest would end every run on bytes that is under way.
  EXPECT_EQ(bytes, "280a0049ac3b61a9e1f4b1dffd42ffaf865e49cbcf6f17c4a29ab25bce796ed7");
  ASSERT_TRUE(fit_to_data(*config, 257, ByteTokenizer().digest()));
  EXPECT_EQ(config->digest, bytes);
  ASSERT_TRUE(fit_to_data(*config, 257, "another"));
  EXPECT_NE(config->digest, bytes);
  ASSERT_TRUE(fit_to_data(*config, 300, ByteTokenizer().digest()));
  EXPECT_EQ(config->training.model.vocabulary, 300);
  EXPECT_NE(config->digest, bytes);
  config->vocabulary = 299;
  EXPECT_EQ(fit_to_data(*config, 300, "").error().where, "training_config.vocabulary");
}

TEST(WorkerConfigTest, DigestChangesWithWhatDecidesTheWeightsOnly) {
  const std::string base = read_worker_config(minimal())->digest;
  for (const std::string_view key : {"steps", "checkpoint_every"}) {
    EXPECT_EQ(read_worker_config(with("training_config", key, 77))->digest, base) << key;
  }
  EXPECT_EQ(read_worker_config(with("logging_config", "log_every", 77))->digest, base);
  EXPECT_EQ(read_worker_config(with("training_config", "data_format", "text"))->digest, base);

  std::set<std::string> digests{base};
  for (const std::string_view key : {"batch_size", "block_size", "seed", "warmup_steps"}) {
    digests.insert(read_worker_config(with("training_config", key, 77))->digest);
  }
  for (const std::string_view key : {"dropout", "label_smoothing"}) {
    digests.insert(read_worker_config(with("training_config", key, 0.5))->digest);
  }
  for (const std::string_view key : {"tie_weights", "recompute"}) {
    digests.insert(read_worker_config(with("training_config", key, true))->digest);
  }
  digests.insert(read_worker_config(with("training_config", "accumulation", 2))->digest);
  digests.insert(read_worker_config(with("training_config", "precision", "bf16"))->digest);
  digests.insert(read_worker_config(with("training_config", "precision", "f32"))->digest);
  // What is held out is not trained on; how often is looked at it does not matter.
  json::object evaluated = with("training_config", "evaluate_every", 5);
  digests.insert(read_worker_config(evaluated)->digest);
  evaluated["training_config"].as_object()["evaluate_every"] = 6;
  digests.insert(read_worker_config(evaluated)->digest);
  // Where the rates depend on the length of the run, that counts too.
  json::object cosine = with("training_config", "schedule", "cosine");
  digests.insert(read_worker_config(cosine)->digest);
  cosine["training_config"].as_object()["steps"] = 77;
  digests.insert(read_worker_config(cosine)->digest);
  for (const std::string_view key : {"learning_rate", "head_learning_rate", "weight_decay", "beta1",
                                     "beta2", "epsilon", "gradient_clip"}) {
    digests.insert(read_worker_config(with("training_config", key, 0.125))->digest);
  }
  digests.insert(read_worker_config(with("training_config", "model", "nano_1x"))->digest);
  digests.insert(read_worker_config(with("training_config", "data", json::array{"/b"}))->digest);
  digests.insert(read_worker_config(with("device_config", "threads", 3))->digest);
  digests.insert(read_worker_config(with("training_config", "data_format", "u16"))->digest);
  EXPECT_EQ(digests.size(), 1U + 4U + 9U + 7U + 4U);
}

TEST(WorkerConfigTest, AttentionIsTheDevicesChoiceUnlessItIsSaid) {
  EXPECT_EQ(read_worker_config(minimal())->attention, std::nullopt);
  EXPECT_EQ(read_worker_config(with("device_config", "attention", "auto"))->attention,
            std::nullopt);
  EXPECT_EQ(read_worker_config(with("device_config", "attention", "plain"))->attention,
            AttentionUse::plain);
  EXPECT_EQ(read_worker_config(with("device_config", "attention", "fused"))->attention,
            AttentionUse::fused);
  EXPECT_THAT(error_of(with("device_config", "attention", "flash")).what,
              HasSubstr("expected 'auto', 'plain' or 'fused'"));
}

TEST(WorkerConfigTest, APluginIsADevice) {
  json::object config = minimal();
  config["device_config"] =
      json::object{{"plugin", "/opt/plugin.so"},
                   {"placement", "device"},
                   {"cache_limit", 1 << 20},
                   {"options", json::object{{"allocator", "bfc"},
                                            {"preallocate", true},
                                            {"memory_fraction", 0.5},
                                            {"node_id", 3},
                                            {"visible_devices", json::array{0, 1}}}}};
  const auto read = read_worker_config(config);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->device, plugin_device);
  EXPECT_EQ(read->plugin, "/opt/plugin.so");
  EXPECT_EQ(read->placement, Placement::device);
  EXPECT_EQ(read->cache_limit, 1U << 20U);
  ASSERT_EQ(read->options.size(), 5U);
  EXPECT_EQ(read->options[0].name, "allocator");
  EXPECT_EQ(std::get<std::string>(read->options[0].value), "bfc");
  EXPECT_EQ(std::get<bool>(read->options[1].value), true);
  EXPECT_EQ(std::get<float>(read->options[2].value), 0.5F);
  EXPECT_EQ(std::get<std::int64_t>(read->options[3].value), 3);
  EXPECT_EQ(std::get<std::vector<std::int64_t>>(read->options[4].value),
            (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(read->digest, read_worker_config(minimal())->digest)
      << "a run may go on with another device";
  config["device_config"].as_object()["device"] = "cpu";
  EXPECT_EQ(read_worker_config(config)->device, cpu_device) << "to try the same file without it";
}

TEST(WorkerConfigTest, RanksAreADecision) {
  json::object config = minimal();
  config["device_config"] = json::object{{"mesh_shape", json::array{1, 4}}, {"enable_ddp", true}};
  const auto read = read_worker_config(config);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->ranks(), 4);
  EXPECT_EQ(read->digest, read_worker_config(minimal())->digest)
      << "a run may go on with other ranks";
  EXPECT_THAT(error_of(with("device_config", "mesh_shape", json::array{1, 4})).message(),
              HasSubstr("enable_ddp"));
  for (const json::value& wrong :
       {json::value(json::array{2, 513}), json::value(json::array{1}), json::value(7),
        json::value(json::array{1, 0}), json::value(json::array{1, "2"})}) {
    EXPECT_THAT(error_of(with("device_config", "mesh_shape", wrong)).message(),
                HasSubstr("mesh_shape"));
  }
}

}  // namespace
}  // namespace trainward::trainer

// Digests as they were when they were first written into checkpoints. Another one for the same
// configuration would end every run under way: its checkpoints would be those of another run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "trainer/loop/setup/run_digest.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Recorded {
  const char* config;
  const char* digest;
};

constexpr std::array<Recorded, 12> recorded{{
    {R"({"training_config": {"data": ["/usr/share/common-licenses"]}})",
     "280a0049ac3b61a9e1f4b1dffd42ffaf865e49cbcf6f17c4a29ab25bce796ed7"},
    {R"({"training_config": {"data": ["a", "b c"], "model": "nano_96x", "steps": 9,
         "batch_size": 3, "block_size": 16, "learning_rate": 0.5, "head_learning_rate": 1,
         "weight_decay": 0.25, "beta1": 0.5, "beta2": 0.75, "epsilon": 1e-6,
         "gradient_clip": 2.5, "warmup_steps": 6, "seed": 77},
         "device_config": {"threads": 5}, "logging_config": {"log_every": 8}})",
     "c343db72171b10645cb70c7b3be1181fbd56d4a08fe265d92e3d8618d7bfd062"},
    {R"({"training_config": {"data": ["a"], "schedule": "cosine", "steps": 1000,
         "final_learning_rate_share": 0.2}})",
     "f76f70df9dff27bbfc5e67d2b851318fbac1895c7d5ccc1cfa4d73d81980939b"},
    {R"({"training_config": {"data": ["a"], "tie_weights": true, "accumulation": 4,
         "dropout": 0.1, "label_smoothing": 0.05, "recompute": true, "precision": "bf16",
         "schedule": "cosine", "warmup_steps": 10}})",
     "8a3bc5f429e56fc709cbb269c71e19c72572aebef9e39c8092e502256ee3fa82"},
    {R"({"training_config": {"data": ["a"], "evaluate_every": 5, "evaluation_blocks": 7}})",
     "b3803809ccccfbe14e2496c1f3e2d5e3330e3c60ecf16c09876111ab841acf3f"},
    {R"({"training_config": {"data": ["a"], "data_format": "u16", "vocabulary": 50257}})",
     "da390406333c9dced6b87eed68c58b3c13d990c1cd8cdd0f472106f223ed74c8"},
    {R"({"training_config": {"data": ["a"], "data_format": "u32", "tokenizer": "t.json",
         "end_of_text": "<end>"}})",
     "60b22dfe5c5f641b6cf77b97395b539fffd4807bb2cf568172bfc00c6f0f9967"},
    {R"({"training_config": {"data": ["a"], "data_format": "text", "checkpoint_every": 3,
         "checkpoint_async": false, "checkpoint_shard_mib": 64}})",
     "170cd331403603bc7a3034a79c148316efb967a724456d94f3e6c3b081169fb2"},
    {R"({"training_config": {"data": ["a"], "learning_rate": 1e-4, "epsilon": 1e-30,
         "gradient_clip": 0, "weight_decay": 0, "beta1": 0, "beta2": 0,
         "seed": 9223372036854775807}})",
     "c9c37a19e9fc2a0eeb9a6a6547ff6ea660bd446f8ee796e517da27b060734295"},
    {R"({"training_config": {"data": ["a"], "learning_rate": 0.1, "head_learning_rate": 6e-05,
         "dropout": 0.333333333333333}, "device_config": {"threads": 1024}})",
     "f242ea6aae46667c369f15b40361b6215d8097f5b353d1d8c3cc414e69f3f157"},
    {R"({"training_config": {"data": ["a"], "model": "large"},
         "device_config": {"plugin": "sim_n300", "placement": "device", "attention": "fused",
         "mesh_shape": [1, 4], "enable_ddp": true, "options": {"a": 1}, "cache_limit": 1048576}})",
     "517aff1179038e92f4b22bff7e3feddffecdff5a648d24e04eee96a86f54358f"},
    {R"({"training_config": {"data": ["a"], "model": "femto_24x", "final_learning_rate_share": 0.5,
         "recompute": false, "accumulation": 1, "dropout": 0, "precision": "f32"}})",
     "d117d65ee15aebff0cd0157f4b62c6a050e371f65d18578f21cb4cdb508d3ed8"},
}};

TEST(WorkerDigestTest, AreWhatTheyAlwaysWere) {
  for (const Recorded& known : recorded) {
    const auto parsed = parse_json(known.config, "test");
    ASSERT_TRUE(parsed) << known.config;
    auto config = read_worker_config(parsed->as_object());
    ASSERT_TRUE(config) << config.error().message();
    // What falls does so otherwise today, which is another run; one that began so keeps its digest.
    const bool falls = config->training.schedule.shape != optim::Schedule::Shape::constant;
    EXPECT_EQ(config->digest == known.digest, !falls) << known.config;
    keep_edition(*config, 1);
    EXPECT_EQ(run_digest(*config, ByteTokenizer().digest()), known.digest) << known.config;
  }
}

TEST(ChangedSettingsTest, AreNamedByTheirKeys) {
  const auto text = [](const char* changes) {
    json::object training{{"data", json::array{"a"}}, {"seed", 7}};
    const json::object changed = parse_json(changes, "")->as_object();
    for (const auto& [key, value] : changed) training[key] = value;
    auto config = read_worker_config({{"training_config", training}});
    EXPECT_TRUE(config) << config.error().message();
    return digest_text(*config, ByteTokenizer().digest());
  };
  const auto changes = [&](const char* before, const char* now) {
    return changed_settings(text(before), text(now));
  };
  EXPECT_THAT(changes("{}", "{}"), IsEmpty());
  EXPECT_THAT(changes("{}", R"({"seed": 8, "learning_rate": 0.5})"),
              ElementsAre(HasSubstr("training_config.learning_rate was "),
                          "training_config.seed was 7 and is 8"));
  EXPECT_THAT(changes(R"({"dropout": 0.1})", "{}"), ElementsAre("training_config.dropout was 0.1"));
  EXPECT_THAT(changes("{}", R"({"recompute": true})"),
              ElementsAre("training_config.recompute is true now"));
  EXPECT_THAT(changes("{}", R"({"data": ["a", "b c"]})"),
              ElementsAre("training_config.data is b c now"));
  EXPECT_THAT(changes("{}", R"({"model": "nano_96x"})"), ElementsAre("training_config.model"));
  EXPECT_THAT(
      changes(R"({"schedule": "cosine", "steps": 10})", R"({"schedule": "cosine", "steps": 20})"),
      ElementsAre(AllOf(HasSubstr("steps"), HasSubstr("was 10 steps"), HasSubstr("is 20"))));
  EXPECT_THAT(changed_settings(text("{}"), text("{}") + "tokenizer abc\n"),
              ElementsAre(HasSubstr("tokenizer")));
}

// Whatever a digest may be of, its lines name a key.
TEST(ChangedSettingsTest, EveryLineHasAKey) {
  for (const Recorded& known : recorded) {
    const auto config = read_worker_config(parse_json(known.config, "")->as_object());
    const std::string whole = digest_text(*config, "another");
    for (std::size_t at = whole.find('\n') + 1; at < whole.size();) {
      const std::size_t end = whole.find('\n', at) + 1;
      EXPECT_THAT(changed_settings("", whole.substr(at, end - at)), testing::SizeIs(1))
          << whole.substr(at, end - at);
      at = end;
    }
  }
}

// A plan and a processor change what is used after it was read, before the data is known.
TEST(WorkerDigestTest, FollowsWhatIsUsed) {
  const auto parsed =
      parse_json(R"({"training_config": {"data": ["a"], "precision": "bf16"}})", "");
  auto config = read_worker_config(parsed->as_object());
  ASSERT_TRUE(config);
  config->training.precision = graph::Precision::f32;
  config->training.batch_size = 4;
  config->training.block_size = 64;
  config->training.accumulation = 2;
  config->training.recompute = true;
  ASSERT_TRUE(fit_to_data(*config, 300, "another"));
  EXPECT_EQ(config->digest, "c18c341a18d01bf8b7867ea4fd04476d8ed3d72a33364a26344162df6011db0a");
  ASSERT_TRUE(fit_to_data(*config, 257, ByteTokenizer().digest()));
  EXPECT_EQ(config->digest, "60fc3a01cd722a06849bcea6cb7f9696a791695acffef6032e967e0fe2594358");
}

}  // namespace
}  // namespace trainward::trainer

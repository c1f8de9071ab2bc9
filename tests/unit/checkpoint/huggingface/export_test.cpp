// Folders written from checkpoints: the bytes of the base after no step, what is cut, copied,
// refused, and that nothing is left behind.
#include "checkpoint/huggingface/export.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <map>

#include "checkpoint/huggingface/adapter/adapter.hpp"
#include "checkpoint/huggingface/writing/indented_json.hpp"
#include "checkpoint/huggingface/writing/written_config.hpp"
#include "tests/unit/checkpoint/huggingface/trained.hpp"
#include "tests/unit/checkpoint/support.hpp"
#include "tests/unit/checkpoint/system_calls.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::Medium;
using checkpoint::testing::names_in;
using checkpoint::testing::read_bytes;
using checkpoint::testing::ScratchFolder;
using testing::adapted;
using ::testing::ElementsAre;
using testing::FolderOptions;
using ::testing::HasSubstr;
using testing::OwnedTensor;
using testing::record_for;
using testing::saved;
using testing::Shape;
using testing::untrained;
using testing::write_folder;
using testing::write_text;

void expect_same_models(const fs::path& a, const fs::path& b);

class ExportTest : public ::testing::Test {
 protected:
  fs::path base(const FolderOptions& options = {}) {
    fs::remove_all(base_);
    write_folder(base_, options);
    return base_;
  }
  fs::path from_base() {
    fs::remove_all(root_);
    return untrained(root_, base_, record_for(base_));
  }
  Result<Exported> exported(const fs::path& checkpoint, const ExportOptions& options = {}) {
    fs::remove_all(to_);
    auto done = export_model(checkpoint, to_, options);
    EXPECT_EQ(fs::exists(to_), done.has_value());
    return done;
  }
  std::string refusal(const fs::path& checkpoint, const ExportOptions& options = {}) {
    fs::remove_all(to_);
    const auto before = names_in(scratch_.path());
    const auto done = exported(checkpoint, options);
    EXPECT_EQ(names_in(scratch_.path()), before) << "nothing stays";
    return done ? "" : done.error().message();
  }
  // Every call that changes the disk fails once; what was there before is all that is there then.
  void fail_each_call(const fs::path& checkpoint, int problem) {
    const auto before = names_in(scratch_.path());
    int calls = 0;
    for (int victim = 0; victim == 0 || victim <= calls; ++victim) {
      calls = 0;
      ExportOptions options;
      options.io = checkpoint::testing::intercepted().io;
      Result<Exported> done;
      {
        const checkpoint::testing::Interception failing(
            [&](const checkpoint::testing::Event&) { return calls++ == victim ? problem : 0; });
        done = export_model(checkpoint, to_, options);
      }
      if (done) {
        // A failed fsync of a file is recovered by rewriting it.
        expect_same_models(base_, to_);
        fs::remove_all(to_);
        continue;
      }
      EXPECT_EQ(names_in(scratch_.path()), before) << "call " << victim;
    }
    EXPECT_GT(calls, 20);  // the last time nothing failed
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path base_ = scratch_.path() / "base";
  fs::path root_ = scratch_.path() / "checkpoints";
  fs::path to_ = scratch_.path() / "to";
};

void expect_same_models(const fs::path& a, const fs::path& b) {
  const auto first = ModelFolder::open(a);
  const auto second = ModelFolder::open(b);
  ASSERT_TRUE(first) << first.error().message();
  ASSERT_TRUE(second) << second.error().message();
  ASSERT_EQ(first->tensors().size(), second->tensors().size());
  for (std::size_t i = 0; i < first->tensors().size(); ++i) {
    const TensorView& x = first->tensors()[i];
    const TensorView& y = second->tensors()[i];
    EXPECT_EQ(x.info.name, y.info.name);
    EXPECT_EQ(x.info.dtype, y.info.dtype) << x.info.name;
    EXPECT_EQ(x.info.shape, y.info.shape) << x.info.name;
    ASSERT_EQ(x.bytes.size(), y.bytes.size());
    EXPECT_EQ(std::memcmp(x.bytes.data(), y.bytes.data(), x.bytes.size()), 0) << x.info.name;
  }
}

TEST_F(ExportTest, NoStepGivesTheSameTensorsBack) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const bool tied : {false, true}) {
      for (const std::uint64_t shard : {0U, 4000U}) {
        SCOPED_TRACE(fmt::format("{} tied {} shard {}", to_string(type), tied, shard));
        Shape shape;
        shape.tied = tied;
        base({shape, type});
        ExportOptions options;
        options.shard_bytes = shard;
        const auto done = exported(from_base(), options);
        ASSERT_TRUE(done) << done.error().message();
        EXPECT_FALSE(done->adapter);
        EXPECT_EQ(done->tensors, tied ? 20U : 21U);
        EXPECT_TRUE(done->notes.empty());
        expect_same_models(base_, to_);
        EXPECT_EQ(fs::exists(to_ / "model.safetensors.index.json"), shard > 0);
        for (const char* name : {"tokenizer.json", "tokenizer_config.json",
                                 "special_tokens_map.json", "generation_config.json"}) {
          EXPECT_EQ(read_bytes(to_ / name), read_bytes(base_ / name)) << name;
        }
        EXPECT_EQ(read_bytes(to_ / "config.json"),
                  indented_json(ModelFolder::open(base_)->config()) + "\n");
      }
    }
  }
}

TEST_F(ExportTest, TensorsOfSeveralTypesKeepTheirs) {
  write_folder(base_);
  auto tensors = testing::tensors_of({}, DType::bf16);
  for (OwnedTensor& tensor : tensors) {
    if (tensor.info.name.find("norm") == std::string::npos) continue;
    const auto values = testing::floats_of(DType::bf16, tensor.bytes);
    tensor.info.dtype = DType::f32;
    tensor.bytes.resize(values.size() * 4);
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  }
  testing::write_safetensors(base_ / "model.safetensors", tensors);
  ASSERT_TRUE(exported(from_base()));
  expect_same_models(base_, to_);
}

TEST_F(ExportTest, AnotherTypeIsSaidInTheConfiguration) {
  base();
  ExportOptions options;
  options.type = DType::f32;
  ASSERT_TRUE(exported(from_base(), options));
  const auto model = ModelFolder::open(to_);
  ASSERT_TRUE(model);
  EXPECT_EQ(string_or(model->config(), "torch_dtype", ""), "float32");
  EXPECT_EQ(model->find("model.norm.weight")->info.dtype, DType::f32);
  options.type = DType::i8;
  EXPECT_THAT(refusal(root_ / "step-00000012", options), HasSubstr("choose f32, bf16 or f16"));
}

TEST_F(ExportTest, WhatF16CannotHoldIsRefused) {
  base();
  auto tensors = testing::tensors_of({}, DType::f32);
  const float large = 70000.0F;
  std::memcpy(tensors[3].bytes.data() + 8, &large, sizeof large);
  const fs::path checkpoint = saved(root_, record_for(base_), tensors);
  ExportOptions options;
  options.type = DType::f16;
  EXPECT_THAT(refusal(checkpoint, options),
              AllOf(HasSubstr(tensors[3].info.name), HasSubstr("70000"), HasSubstr("--dtype")));
  const float largest = 65504.0F;
  std::memcpy(tensors[3].bytes.data() + 8, &largest, sizeof largest);
  fs::remove_all(root_);
  EXPECT_TRUE(exported(saved(root_, record_for(base_), tensors), options));
}

TEST_F(ExportTest, EndTokensJoinThoseOfTheBase) {
  base();
  ModelRecord record = record_for(base_);
  record.end_tokens = {7, 2};
  ASSERT_TRUE(exported(untrained(root_, base_, record)));
  const auto model = ModelFolder::open(to_);
  ASSERT_TRUE(model && model->generation_config());
  EXPECT_EQ(json::serialize(model->generation_config()->at("eos_token_id")), "[2,7]");
  EXPECT_EQ(number_or(*model->generation_config(), "temperature", 0), 0.6);
  EXPECT_EQ(int_or(model->config(), "eos_token_id", 0), 2) << "config.json stays";
  EXPECT_THAT(read_bytes(to_ / "README.md"), HasSubstr("| tokens that end an answer | 7, 2 |"));
}

// A run of an older version may have trained on a part of its base.
TEST_F(ExportTest, WhatTheBaseHadAndTheRunHasNotIsTold) {
  base();
  const fs::path checkpoint = from_base();
  auto tensors = testing::tensors_of({}, DType::bf16);
  tensors.push_back(tensors.back());
  tensors.back().info.name = "model.layers.7.mlp.up_proj.weight";
  tensors.push_back(tensors.back());
  tensors.back().info.name = "model.layers.0.self_attn.rotary_emb.inv_freq";  // is computed
  testing::write_safetensors(base_ / "model.safetensors", tensors);
  const auto done = exported(checkpoint);
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_THAT(done->notes, ElementsAre(HasSubstr("1 tensor of the base model is not in it, such as "
                                                 "model.layers.7.mlp.up_proj.weight")));
}

TEST_F(ExportTest, AModelFromScratchNeedsATokenizerNamed) {
  base();
  ModelRecord record = record_for(base_);
  record.base.reset();
  record.config["torch_dtype"] = "float16";
  const fs::path checkpoint = untrained(root_, base_, record);
  const auto without = exported(checkpoint);
  ASSERT_TRUE(without) << without.error().message();
  EXPECT_THAT(without->notes, ElementsAre(HasSubstr("no tokenizer")));
  EXPECT_EQ(ModelFolder::open(to_)->find("model.norm.weight")->info.dtype, DType::f16);
  EXPECT_THAT(read_bytes(to_ / "generation_config.json"), HasSubstr("\"eos_token_id\": 2"));
  ExportOptions options;
  options.tokenizer = base_;
  ASSERT_TRUE(exported(checkpoint, options));
  EXPECT_EQ(read_bytes(to_ / "tokenizer.json"), read_bytes(base_ / "tokenizer.json"));
  options.tokenizer = scratch_.path();
  EXPECT_THAT(refusal(checkpoint, options), HasSubstr("tokenizer.json"));
}

TEST_F(ExportTest, ABaseThatIsGoneOrAnother) {
  base();
  const fs::path checkpoint = from_base();
  fs::rename(base_, scratch_.path() / "moved");
  EXPECT_THAT(refusal(checkpoint), AllOf(HasSubstr("--base"), HasSubstr("--tokenizer")));
  ExportOptions options;
  options.base = scratch_.path() / "moved";
  EXPECT_TRUE(exported(checkpoint, options));
  expect_same_models(scratch_.path() / "moved", to_);
  ExportOptions tokenizer;
  tokenizer.tokenizer = scratch_.path() / "moved";
  EXPECT_TRUE(exported(checkpoint, tokenizer));
  Shape other;
  other.hidden = 32;
  write_folder(scratch_.path() / "other", {other});
  options.base = scratch_.path() / "other";
  EXPECT_THAT(refusal(checkpoint, options), HasSubstr("began from"));
}

TEST_F(ExportTest, OtherCheckpointsAreRefused) {
  base();
  checkpoint::testing::Sample sample(3);
  const auto other = save(root_, sample.contents());
  ASSERT_TRUE(other);
  EXPECT_THAT(refusal(*other), HasSubstr("no model with a config.json"));
  ModelRecord record = record_for(base_);
  record.config["vocab_size"] = 200;
  EXPECT_THAT(refusal(untrained(root_, base_, record)), HasSubstr("for a vocabulary of 200"));
  record.config["vocab_size"] = 50;
  EXPECT_THAT(refusal(untrained(root_, base_, record)), HasSubstr("for a vocabulary of 50"));
  write_text(to_, "taken");
  EXPECT_THAT(export_model(from_base(), to_).error().message(), HasSubstr("exists already"));
  EXPECT_EQ(read_bytes(to_), "taken");
}

TEST_F(ExportTest, ADamagedCheckpointIsNotCopied) {
  base();
  const fs::path checkpoint = from_base();
  const fs::path file = checkpoint / "model.safetensors";
  checkpoint::testing::flip(file, fs::file_size(file) - 1, 4);
  EXPECT_THAT(refusal(checkpoint), HasSubstr("damaged"));
}

TEST_F(ExportTest, NothingStaysWhateverFails) {
  base();
  const fs::path checkpoint = from_base();
  for (const int problem : {ENOSPC, EROFS}) fail_each_call(checkpoint, problem);
}

TEST_F(ExportTest, ADiskThatIsTooSmallIsSeenBeforehand) {
  base();
  const fs::path checkpoint = from_base();
  checkpoint::testing::Interception disk([](const checkpoint::testing::Event&) { return 0; });
  disk.free_bytes = 1000;
  const auto done = export_model(checkpoint, to_);
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("too full"));
  EXPECT_FALSE(fs::exists(to_));
}

TEST_F(ExportTest, AnInterruptionLeavesNothing) {
  base();
  const fs::path checkpoint = from_base();
  std::uint64_t whole = 0;
  ExportOptions options;
  options.io.progress = [&](std::uint64_t done, std::uint64_t total) -> Status {
    EXPECT_LE(done, total);
    whole = total;
    if (done > total / 2) return fail(ErrorKind::transient, "interrupted");
    return {};
  };
  EXPECT_THAT(refusal(checkpoint, options), HasSubstr("interrupted"));
  EXPECT_GT(whole, 0U);
}

TEST_F(ExportTest, AnAdapterTellsOfEndTokensThatItCannotHold) {
  base();
  ModelRecord record = record_for(base_);
  record.lora = LoraSettings{2, 4, 0, false, {"q_proj"}};
  record.end_tokens = {2};
  const auto silent = exported(adapted(root_, {}, record));
  ASSERT_TRUE(silent);
  EXPECT_TRUE(silent->notes.empty()) << "config.json says it";
  record.end_tokens = {2, 9};
  fs::remove_all(root_);
  EXPECT_THAT(exported(adapted(root_, {}, record))->notes, ElementsAre(HasSubstr("token 2, 9")));
}

TEST_F(ExportTest, AnAdapterHasTheFormItWasTaughtBesideIt) {
  base();
  ModelRecord record = record_for(base_);
  record.lora = LoraSettings{2, 4, 0, false, {"q_proj"}};
  record.chat_template = "{{ messages[0].content }}";
  ASSERT_TRUE(exported(adapted(root_, {}, record)));
  EXPECT_EQ(read_bytes(to_ / "chat_template.jinja"), record.chat_template + "\n");
}

TEST_F(ExportTest, AdaptersAsPeftNamesThem) {
  base();
  ModelRecord record = record_for(base_);
  record.lora = LoraSettings{4, 16, 0.05, false, {"v_proj", "q_proj"}};
  const auto done = exported(adapted(root_, {}, record));
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_TRUE(done->adapter);
  EXPECT_THAT(names_in(to_),
              ElementsAre("README.md", "adapter_config.json", "adapter_model.safetensors"));
  const auto file = MappedTensors::of_file(to_, "adapter_model.safetensors");
  ASSERT_TRUE(file);
  std::vector<std::string> names;
  for (const TensorView& tensor : file->all()) names.push_back(tensor.info.name);
  EXPECT_THAT(names, ElementsAre("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                 "base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight",
                                 "base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight",
                                 "base_model.model.model.layers.0.self_attn.v_proj.lora_B.weight",
                                 "base_model.model.model.layers.1.self_attn.q_proj.lora_A.weight",
                                 "base_model.model.model.layers.1.self_attn.q_proj.lora_B.weight",
                                 "base_model.model.model.layers.1.self_attn.v_proj.lora_A.weight",
                                 "base_model.model.model.layers.1.self_attn.v_proj.lora_B.weight"));
  EXPECT_EQ(read_bytes(to_ / "adapter_config.json"), R"({
  "alpha_pattern": {},
  "auto_mapping": null,
  "base_model_name_or_path": ")" + base_.string() + R"(",
  "bias": "none",
  "fan_in_fan_out": false,
  "inference_mode": true,
  "init_lora_weights": true,
  "layers_pattern": null,
  "layers_to_transform": null,
  "lora_alpha": 16,
  "lora_dropout": 0.05,
  "modules_to_save": null,
  "peft_type": "LORA",
  "r": 4,
  "rank_pattern": {},
  "revision": null,
  "target_modules": [
    "q_proj",
    "v_proj"
  ],
  "task_type": "CAUSAL_LM",
  "use_dora": false,
  "use_rslora": false
}
)");
}

TEST(WrittenConfig, NewerSpellingOfRopeBecomesTheOlderPair) {
  const json::object config{
      {"a", 1},
      {"rope_parameters", {{"rope_type", "llama3"}, {"rope_theta", 500000.0}, {"factor", 32.0}}},
      {"dtype", "float32"},
      {"z", {2}}};
  EXPECT_EQ(json::serialize(written_config(config, DType::bf16)),
            R"({"a":1,"rope_theta":5E5,"rope_scaling":{"rope_type":"llama3","factor":3.2E1},)"
            R"("dtype":"bfloat16","z":[2]})");
  const json::object plain{{"rope_theta", 1.0},
                           {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 2.0}}}};
  EXPECT_EQ(json::serialize(written_config(plain, DType::f16)),
            R"({"rope_theta":2E0,"rope_scaling":null,"torch_dtype":"float16"})");
}

TEST(WrittenConfig, GenerationKeepsWhatItHas) {
  using Tokens = std::vector<std::int64_t>;
  const json::object config{
      {"bos_token_id", 1}, {"eos_token_id", {2, 3}}, {"pad_token_id", nullptr}};
  const auto of = [&](const std::optional<json::object>& base, const Tokens& ends) {
    const auto written = written_generation(base, config, ends);
    return written ? json::serialize(*written) : "none";
  };
  EXPECT_EQ(of(std::nullopt, {}), R"({"bos_token_id":1,"eos_token_id":[2,3]})");
  EXPECT_EQ(of(std::nullopt, {9}), R"({"bos_token_id":1,"eos_token_id":[2,3,9]})");
  EXPECT_EQ(of(json::object{{"top_p", 0.5}, {"eos_token_id", 5}}, {}),
            R"({"top_p":5E-1,"eos_token_id":5})");
  EXPECT_EQ(of(json::object{{"eos_token_id", 5}}, {5}), R"({"eos_token_id":5})");
  EXPECT_EQ(of(json::object{{"eos_token_id", 5}}, {5, 6}), R"({"eos_token_id":[5,6]})");
  EXPECT_EQ(of(json::object{{"top_p", 1}}, {6}), R"({"top_p":1,"eos_token_id":[2,3,6]})");
  EXPECT_EQ(written_generation(std::nullopt, {}, {}), std::nullopt);
  EXPECT_EQ(json::serialize(written_generation(std::nullopt, {}, {4}).value()),
            R"({"eos_token_id":4})");
}

TEST(IndentedJson, IsPythonsOwn) {
  const json::value value{{"a", json::array()},
                          {"b", {1, 1e-5, 10000.0, 0.1, -2.5e300, 1e15, 1e16, 0.0, 1e-4}},
                          {"c", {{"d", nullptr}, {"e", true}, {"f", "q\"ü"}}},
                          {"g", json::object()}};
  EXPECT_EQ(indented_json(value), R"({
  "a": [],
  "b": [
    1,
    1e-05,
    10000.0,
    0.1,
    -2.5e+300,
    1000000000000000.0,
    1e+16,
    0.0,
    0.0001
  ],
  "c": {
    "d": null,
    "e": true,
    "f": "q\"ü"
  },
  "g": {}
})");
}

TEST_F(ExportTest, TheCardSaysWhatIsKnown) {
  base();
  ExportOptions options;
  options.card.attempts = 3;
  options.card.causes = {{"done", 1}, {"oom|<b>", 2}};
  for (int i = 1; i <= 100; ++i) options.card.losses.push_back({i, 4.0 / i});
  options.card.evaluations = {{50, 0.5}};
  options.card.data = {{"file", "pairs.jsonl"}};
  options.card.settings = {{"learning_rate", "1e-4"}};
  ASSERT_TRUE(exported(from_base(), options));
  const std::string card = read_bytes(to_ / "README.md");
  EXPECT_THAT(card, ::testing::StartsWith("---\nlibrary_name: transformers\n"));
  EXPECT_THAT(card, HasSubstr("| base model | " + base_.string() + " |"));
  EXPECT_THAT(card, HasSubstr("| attempts | 3: done 1, oom\\|\\<b> 2 |"));
  EXPECT_THAT(card, HasSubstr("| 1 | 4.000 |  |"));
  EXPECT_THAT(card, HasSubstr("| 100 | 0.040 |  |"));
  EXPECT_THAT(card, HasSubstr("| 50 |  | 0.500 |"));
  EXPECT_THAT(card, HasSubstr("| file | pairs.jsonl |\n| digest | da7a |"));
  EXPECT_THAT(card, HasSubstr("| learning_rate | 1e-4 |"));
  EXPECT_THAT(card, HasSubstr("| steps | 12 |"));
  EXPECT_LT(std::count(card.begin(), card.end(), '\n'), 60);
}

}  // namespace
}  // namespace trainward::checkpoint::huggingface

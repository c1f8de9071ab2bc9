// PEFT's folders read back: what is understood, and what is refused by name.
#include "checkpoint/huggingface/adapter/adapter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "checkpoint/huggingface/export.hpp"
#include "tests/unit/checkpoint/huggingface/trained.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::Medium;
using checkpoint::testing::ScratchFolder;
using testing::adapters_of;
using ::testing::HasSubstr;
using testing::OwnedTensor;
using testing::write_safetensors;
using testing::write_text;

// As PEFT 0.13 writes it, with keys that are not ours.
json::object peft_config() {
  return {{"alpha_pattern", json::object()},
          {"auto_mapping", nullptr},
          {"base_model_name_or_path", "Org/Tiny"},
          {"bias", "none"},
          {"eva_config", nullptr},
          {"exclude_modules", nullptr},
          {"fan_in_fan_out", false},
          {"inference_mode", true},
          {"init_lora_weights", true},
          {"layer_replication", nullptr},
          {"layers_pattern", nullptr},
          {"layers_to_transform", nullptr},
          {"loftq_config", json::object()},
          {"lora_alpha", 16},
          {"lora_bias", false},
          {"lora_dropout", 0.1},
          {"megatron_config", nullptr},
          {"megatron_core", "megatron.core"},
          {"modules_to_save", nullptr},
          {"peft_type", "LORA"},
          {"r", 4},
          {"rank_pattern", json::object()},
          {"revision", nullptr},
          {"target_modules", {"q_proj", "v_proj"}},
          {"task_type", "CAUSAL_LM"},
          {"use_dora", false},
          {"use_rslora", false}};
}

class AdapterTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    write(peft_config());
    write(adapters());
  }
  static std::vector<OwnedTensor> adapters() {
    auto tensors = adapters_of({}, {4, 16, 0, false, {"q_proj", "v_proj"}});
    for (OwnedTensor& tensor : tensors) tensor.info.name.insert(0, "base_model.model.");
    return tensors;
  }
  void write(const json::object& config) const {
    write_text(folder_ / "adapter_config.json", json::serialize(config));
  }
  void write(const std::vector<OwnedTensor>& tensors) const {
    write_safetensors(folder_ / "adapter_model.safetensors", tensors);
  }
  std::string refusal() const {
    const auto read = read_adapter(folder_);
    if (read) return "";
    EXPECT_FALSE(read.error().where.empty());
    return read.error().message();
  }
  std::string with(const std::string& key, const json::value& value) const {
    json::object config = peft_config();
    config[key] = value;
    write(config);
    return refusal();
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path folder_ = scratch_.path() / "adapter";
};

TEST_F(AdapterTest, SettingsAndTensors) {
  const auto adapter = read_adapter(folder_);
  ASSERT_TRUE(adapter) << adapter.error().message();
  EXPECT_EQ(adapter->config.lora, (LoraSettings{4, 16, 0.1, false, {"q_proj", "v_proj"}}));
  EXPECT_EQ(adapter->config.lora.scale(), 4);
  EXPECT_EQ(adapter->config.base, "Org/Tiny");
  ASSERT_EQ(adapter->tensors.size(), 8U);
  EXPECT_EQ(adapter->tensors[0].info.name, "model.layers.0.self_attn.q_proj.lora_A.weight");
  EXPECT_EQ(adapter->tensors[0].info.shape, (std::vector<std::int64_t>{4, 16}));
}

TEST_F(AdapterTest, WhatIsWrittenComesBack) {
  for (const bool stabilised : {false, true}) {
    const AdapterConfig config{{16, 12.5, 0.05, stabilised, {"down_proj", "o_proj"}}, "/models/x"};
    const auto read = parse_adapter_config(adapter_config_text(config), "here");
    ASSERT_TRUE(read) << read.error().message();
    EXPECT_EQ(read->lora, config.lora);
    EXPECT_EQ(read->base, config.base);
    EXPECT_DOUBLE_EQ(read->lora.scale(), stabilised ? 12.5 / 4 : 12.5 / 16);
  }
}

TEST_F(AdapterTest, WhatIsNotDoneHereIsRefusedByItsKey) {
  EXPECT_THAT(with("use_dora", true), HasSubstr("'use_dora'"));
  EXPECT_THAT(with("modules_to_save", {"lm_head"}), HasSubstr("'modules_to_save'"));
  EXPECT_THAT(with("bias", "all"), HasSubstr("'bias'"));
  EXPECT_THAT(with("bias", "lora_only"), HasSubstr("'bias'"));
  EXPECT_THAT(with("lora_bias", true), HasSubstr("'lora_bias'"));
  EXPECT_THAT(with("rank_pattern", {{"q_proj", 8}}), HasSubstr("'rank_pattern'"));
  EXPECT_THAT(with("alpha_pattern", {{"q_proj", 8}}), HasSubstr("'alpha_pattern'"));
  EXPECT_THAT(with("fan_in_fan_out", true), HasSubstr("'fan_in_fan_out'"));
  EXPECT_THAT(with("trainable_token_indices", {1}), HasSubstr("'trainable_token_indices'"));
  EXPECT_THAT(with("init_lora_weights", "pissa_niter_4"), HasSubstr("pissa_niter_4"));
  EXPECT_THAT(with("peft_type", "IA3"), HasSubstr("not LORA"));
  EXPECT_EQ(with("layers_to_transform", {0, 1}), "");
  EXPECT_EQ(with("init_lora_weights", "gaussian"), "");
}

TEST_F(AdapterTest, ValuesThatCannotBe) {
  EXPECT_THAT(with("r", 0), HasSubstr("'r'"));
  EXPECT_THAT(with("r", "4"), HasSubstr("'r'"));
  EXPECT_THAT(with("lora_alpha", nullptr), HasSubstr("'lora_alpha'"));
  EXPECT_THAT(with("use_rslora", "true"), HasSubstr("'use_rslora'"));
  EXPECT_THAT(with("lora_dropout", 1.5), HasSubstr("'lora_dropout'"));
  EXPECT_THAT(with("lora_dropout", "0.1"), HasSubstr("'lora_dropout'"));
  EXPECT_THAT(with("target_modules", json::array()), HasSubstr("'target_modules'"));
  EXPECT_THAT(with("target_modules", {1}), HasSubstr("'target_modules'"));
  EXPECT_EQ(with("target_modules", ".*proj"), "");
  write_text(folder_ / "adapter_config.json", "[]");
  EXPECT_THAT(refusal(), HasSubstr("not a JSON object"));
}

TEST_F(AdapterTest, TensorsThatAreNoPairs) {
  const auto changed = [&](const auto& change) {
    auto tensors = adapters();
    change(tensors);
    write(tensors);
    return refusal();
  };
  EXPECT_THAT(changed([](auto& all) { all.erase(all.begin()); }), HasSubstr("other half"));
  EXPECT_THAT(changed([](auto& all) { all[0].info.shape = {16, 4}; }), HasSubstr("for rank 4"));
  EXPECT_THAT(changed([](auto& all) { all[0].info.name = "model.x.lora_A.weight"; }),
              HasSubstr("does not begin with 'base_model.model.'"));
  EXPECT_THAT(changed([](auto& all) {
                all[0].info.name = "base_model.model.model.q_proj.lora_A.default.weight";
              }),
              HasSubstr("is not the A or B"));
  EXPECT_THAT(changed([](auto& all) { all.clear(); }), HasSubstr("no adapter"));
  EXPECT_THAT(changed([](auto& all) { all[0].info.dtype = DType::i32; }), HasSubstr("of floats"));
}

TEST_F(AdapterTest, FoldersThatAreNone) {
  fs::remove(folder_ / "adapter_model.safetensors");
  EXPECT_THAT(refusal(), HasSubstr("does not hold both"));
  write_text(folder_ / "adapter_model.bin", "");
  EXPECT_THAT(refusal(), HasSubstr("safe_serialization=True"));
}

TEST(ModelRecord, ComesBackFromAState) {
  const ScratchFolder scratch{Medium::memory};
  testing::write_folder(scratch.path() / "base");
  ModelRecord record = testing::record_for(scratch.path() / "base");
  record.lora = LoraSettings{8, 16, 0.0, false, {"q_proj", "v_proj"}};
  record.end_tokens = {2, 32000};
  record.template_variables = {{"enable_thinking", false}, {"date_string", "26 Jul 2024"}};
  TrainingState state;
  state.extra["model"] = to_json(record);
  const auto read = record_of(state);
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_json(*read), to_json(record));
  EXPECT_EQ(json::serialize(read->config), json::serialize(record.config)) << "order kept";
  EXPECT_EQ(read->base->files, record.base->files);
  EXPECT_EQ(json::serialize(to_json(*record.lora)),
            R"({"r":8,"lora_alpha":16,"lora_dropout":0E0,"use_rslora":false,)"
            R"("target_modules":["q_proj","v_proj"]})");
  state.extra["model"] = {{"architecture", "gpt2"}};
  EXPECT_EQ(record_of(state).error().kind, ErrorKind::usage);
  for (const char* bad :
       {R"({})", R"({"config": 1})", R"({"config": {}, "lora": {}})",
        R"({"config": {}, "base_model": {"folder": "/x"}})",
        R"({"config": {}, "end_tokens": [-1]})", R"({"config": {}, "end_tokens": ["</s>"]})",
        R"({"config": {}, "template_variables": [1]})"}) {
    const auto object = parse_json(bad, "test");
    ASSERT_TRUE(object);
    const auto refused = parse_record(object->get_object());
    ASSERT_FALSE(refused) << bad;
    EXPECT_EQ(refused.error().kind, ErrorKind::corrupt) << bad;
  }
}

TEST(ModelRecord, TheBaseIsReadAgainOnlyWhenItsFilesChanged) {
  const ScratchFolder scratch{Medium::memory};
  const fs::path folder = scratch.path() / "base";
  testing::write_folder(folder);
  const auto model = ModelFolder::open(folder);
  ASSERT_TRUE(model);
  const auto recorded = base_of(*model);
  ASSERT_TRUE(recorded);
  int reads = 0;
  const Progress counting = [&](std::uint64_t, std::uint64_t) -> Status {
    ++reads;
    return {};
  };
  EXPECT_TRUE(check_base(*model, *recorded, counting));
  EXPECT_EQ(reads, 0);
  BaseModel touched = *recorded;
  touched.files[0].modified_ns += 1;
  EXPECT_TRUE(check_base(*model, touched, counting));
  EXPECT_EQ(reads, 1);
  BaseModel unknown = *recorded;
  unknown.files.clear();
  EXPECT_TRUE(check_base(*model, unknown, counting));
  EXPECT_EQ(reads, 2);
  touched.digest[0] = touched.digest[0] == '0' ? '1' : '0';
  const auto other = check_base(*model, touched, counting);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::usage);
}

}  // namespace
}  // namespace trainward::checkpoint::huggingface

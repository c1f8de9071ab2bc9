// Folders of models: what is in them, and what is refused with which advice.
#include "checkpoint/huggingface/model/model_folder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "checkpoint/huggingface/model/folder_path.hpp"
#include "temporary_folder.hpp"
#include "tests/unit/checkpoint/huggingface/support.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::read_bytes;
using checkpoint::testing::ScratchFolder;
using testing::FolderOptions;
using ::testing::HasSubstr;
using testing::OwnedTensor;
using testing::tensors_of;
using testing::write_folder;
using testing::write_safetensors;
using testing::write_text;

class ModelFolderTest : public ::testing::Test {
 protected:
  std::string refusal(ErrorKind kind) const { return refusal_of(folder_, kind); }
  static std::string refusal_of(const fs::path& path, ErrorKind kind) {
    const auto opened = ModelFolder::open(path);
    if (opened) return "";
    EXPECT_EQ(opened.error().kind, kind) << opened.error().message();
    EXPECT_FALSE(opened.error().hint.empty()) << opened.error().message();
    EXPECT_FALSE(opened.error().where.empty()) << opened.error().message();
    return opened.error().message();
  }
  void rewrite(const std::string& name, const std::string& from, const std::string& to) const {
    std::string text = read_bytes(folder_ / name);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_text(folder_ / name, text.replace(at, from.size(), to));
  }
  void move_config(const std::string& key, const json::value& value) const {
    json::object config = testing::config_of({});
    config[key] = value;
    write_text(folder_ / "config.json", json::serialize(config));
  }
  checkpoint::testing::ScratchFolder scratch_{checkpoint::testing::Medium::memory};
  fs::path folder_ = scratch_.path() / "model";
};

void expect_same_tensors(const ModelFolder& model, const std::vector<OwnedTensor>& tensors) {
  ASSERT_EQ(model.tensors().size(), tensors.size());
  for (const OwnedTensor& tensor : tensors) {
    const TensorView* found = model.find(tensor.info.name);
    ASSERT_NE(found, nullptr) << tensor.info.name;
    EXPECT_EQ(found->info.dtype, tensor.info.dtype);
    EXPECT_EQ(found->info.shape, tensor.info.shape);
    ASSERT_EQ(found->bytes.size(), tensor.bytes.size());
    EXPECT_EQ(std::memcmp(found->bytes.data(), tensor.bytes.data(), tensor.bytes.size()), 0)
        << tensor.info.name;
  }
}

TEST_F(ModelFolderTest, EveryTensorOfOneFileAndOfShards) {
  for (const DType type : {DType::f32, DType::f16, DType::bf16}) {
    for (const std::size_t shards : {1U, 3U}) {
      const fs::path folder = scratch_.path() / fmt::format("{}-{}", to_string(type), shards);
      write_folder(folder, {.shape = {}, .type = type, .shards = shards});
      auto opened = ModelFolder::open(folder);
      ASSERT_TRUE(opened) << opened.error().message();
      const ModelFolder model = std::move(*opened);  // the views outlive a move
      expect_same_tensors(model, tensors_of({}, type));
      EXPECT_EQ(model.find("model.layers.9.mlp.up_proj.weight"), nullptr);
      EXPECT_EQ(model.weights().files().size(), shards);
    }
  }
}

TEST_F(ModelFolderTest, SmallFilesAsTheyAre) {
  write_folder(folder_);
  const auto model = ModelFolder::open(folder_ / "");
  ASSERT_TRUE(model) << model.error().message();
  EXPECT_EQ(model->path(), folder_);
  EXPECT_EQ(json::serialize(model->config()), read_bytes(folder_ / "config.json"));
  EXPECT_EQ(int_or(*model->generation_config(), "eos_token_id", 0), 2);
  EXPECT_EQ(model->tokenizer(), folder_ / "tokenizer.json");
  EXPECT_EQ(model->chat_template(), "plain");
}

TEST_F(ModelFolderTest, ChatTemplates) {
  write_folder(folder_);
  const auto of = [&](const std::string& tokenizer_config) {
    write_text(folder_ / "tokenizer_config.json", tokenizer_config);
    const auto model = ModelFolder::open(folder_);
    EXPECT_TRUE(model) << model.error().message();
    return model ? model->chat_template().value_or("none") : "refused";
  };
  EXPECT_EQ(of("{}"), "none");
  EXPECT_EQ(of(R"({"chat_template": null})"), "none");
  EXPECT_EQ(of(R"({"chat_template": [{"name": "tools", "template": "t"},
                                     {"name": "default", "template": "d"}]})"),
            "d");
  EXPECT_EQ(of(R"({"chat_template": [{"name": "tools", "template": "t"}]})"), "none");
  write_text(folder_ / "chat_template.jinja", "its own");
  EXPECT_EQ(of(R"({"chat_template": "in the configuration"})"), "its own");
  fs::remove(folder_ / "chat_template.jinja");
  write_text(folder_ / "tokenizer_config.json", R"({"chat_template": 7})");
  EXPECT_THAT(ModelFolder::open(folder_).error().message(), HasSubstr("neither a text nor a list"));
}

TEST_F(ModelFolderTest, LinksOfTheHubsCacheAreFollowed) {
  write_folder(scratch_.path() / "blobs");
  fs::create_directories(folder_);
  for (const auto& entry : fs::directory_iterator(scratch_.path() / "blobs")) {
    fs::create_symlink(entry.path(), folder_ / entry.path().filename());
  }
  const auto model = ModelFolder::open(folder_);
  ASSERT_TRUE(model) << model.error().message();
  expect_same_tensors(*model, tensors_of({}, DType::bf16));
}

TEST_F(ModelFolderTest, AtHome) {
  EXPECT_EQ(folder_path("~/models//tiny", "/home/u"), "/home/u/models//tiny");
  EXPECT_EQ(folder_path("~//models", "/home/u"), "/home/u/models");
  EXPECT_EQ(folder_path("~", "/home/u"), "/home/u/");
  EXPECT_EQ(folder_path("~other/x", "/home/u"), "~other/x");
  EXPECT_EQ(folder_path("a/~/b", "/home/u"), "a/~/b");
  EXPECT_EQ(folder_path("~/x", ""), "~/x");
}

TEST_F(ModelFolderTest, NamesOnTheHubAreNotFolders) {
  EXPECT_THAT(refusal_of("TinyLlama/TinyLlama-1.1B-Chat-v1.0", ErrorKind::usage),
              HasSubstr("hf download TinyLlama/TinyLlama-1.1B-Chat-v1.0 --local-dir "
                        "TinyLlama-1.1B-Chat-v1.0"));
  EXPECT_THAT(refusal_of("/no/such/folder", ErrorKind::usage), HasSubstr("is no folder"));
  EXPECT_THAT(refusal_of("./no such", ErrorKind::usage), Not(HasSubstr("hf download")));
}

TEST_F(ModelFolderTest, OtherFormsAreRefusedWithWhatToDo) {
  const auto only = [&](const std::string& name) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    write_text(folder_ / "config.json", "{}");
    write_text(folder_ / name, "");
    return refusal(ErrorKind::usage);
  };
  EXPECT_THAT(only("pytorch_model.bin"), HasSubstr("safe_serialization=True"));
  EXPECT_THAT(only("pytorch_model-00001-of-00002.bin"), HasSubstr("safe_serialization=True"));
  EXPECT_THAT(only("q4.gguf"), HasSubstr("GGUF"));
  EXPECT_THAT(only("model-00001-of-00002.safetensors"), HasSubstr("index.json"));
  EXPECT_THAT(only("else"), HasSubstr("holds neither"));
  fs::remove(folder_ / "config.json");
  EXPECT_THAT(refusal(ErrorKind::usage), HasSubstr("holds no config.json"));
  write_text(folder_ / "adapter_config.json", "{}");
  EXPECT_THAT(refusal(ErrorKind::usage), HasSubstr("ckpt merge"));
  fs::remove(folder_ / "adapter_config.json");
  fs::create_directory(folder_ / "snapshots");
  EXPECT_THAT(refusal(ErrorKind::usage), HasSubstr("snapshots"));
  write_text(scratch_.path() / "model.gguf", "");
  EXPECT_THAT(refusal_of(scratch_.path() / "model.gguf", ErrorKind::usage), HasSubstr("GGUF"));
  write_folder(folder_);
  EXPECT_THAT(refusal_of(folder_ / "model.safetensors", ErrorKind::usage),
              HasSubstr(folder_.string() + ")"));
  fs::rename(folder_ / "tokenizer.json", folder_ / "tokenizer.model");
  EXPECT_THAT(refusal(ErrorKind::usage), HasSubstr("AutoTokenizer"));
}

TEST_F(ModelFolderTest, AQuantisedModelIsRefusedByItsMethod) {
  write_folder(folder_);
  move_config("quantization_config", {{"quant_method", "gptq"}, {"bits", 4}});
  EXPECT_THAT(refusal(ErrorKind::usage), HasSubstr("quantised model (gptq)"));
  move_config("quantization_config", nullptr);
  EXPECT_TRUE(ModelFolder::open(folder_));
}

TEST_F(ModelFolderTest, ADamagedConfigurationIsNamed) {
  write_folder(folder_);
  for (const std::string text : {"", "[]", "{", "{\"a\": 1, \"a\": 2}", "{\"a\": \"\xff\"}"}) {
    write_text(folder_ / "config.json", text);
    const auto opened = ModelFolder::open(folder_);
    ASSERT_FALSE(opened) << text;
    EXPECT_EQ(opened.error().kind, ErrorKind::corrupt);
    EXPECT_EQ(opened.error().where, (folder_ / "config.json").string());
  }
  write_text(folder_ / "config.json", std::string(max_config_bytes + 1, ' '));
  EXPECT_FALSE(ModelFolder::open(folder_));
}

TEST_F(ModelFolderTest, AShardThatIsMissingOrCut) {
  write_folder(folder_, {.shape = {}, .shards = 3});
  const fs::path shard = folder_ / "model-00002-of-00003.safetensors";
  const auto size = fs::file_size(shard);
  for (const auto left : {size - 1, size / 2, std::uintmax_t{7}, std::uintmax_t{0}}) {
    fs::resize_file(shard, left);
    EXPECT_THAT(refusal(ErrorKind::corrupt), HasSubstr(shard.string())) << left;
  }
  fs::remove(shard);
  EXPECT_THAT(refusal(ErrorKind::corrupt), HasSubstr(shard.string() + ": is missing"));
}

TEST_F(ModelFolderTest, AnIndexThatDoesNotSayWhatTheShardsHold) {
  const std::string index = "model.safetensors.index.json";
  const auto again = [&](const std::string& from, const std::string& to) {
    write_folder(folder_, {.shape = {}, .shards = 2});
    rewrite(index, from, to);
    return refusal(ErrorKind::corrupt);
  };
  EXPECT_THAT(again("\"lm_head.weight\":\"model-00001", "\"lm_head.weight\":\"model-00002"),
              HasSubstr("but it is in 'model-00001-of-00002.safetensors'"));
  EXPECT_THAT(again("\"lm_head.weight\":\"model-00001-of-00002.safetensors\",", ""),
              HasSubstr("does not list tensor 'lm_head.weight'"));
  EXPECT_THAT(again("{\"lm_head.weight\"",
                    "{\"more\":\"model-00001-of-00002.safetensors\",\"lm_head.weight\""),
              HasSubstr("which does not hold it"));
  EXPECT_THAT(again("model-00001-of-00002.safetensors", "../model.safetensors"),
              HasSubstr("outside this folder"));
  EXPECT_THAT(again("\"weight_map\"", "\"weights\""), HasSubstr("weight_map"));
  EXPECT_THAT(again("\"model-00001-of-00002.safetensors\"", "7"), HasSubstr("is in no file"));
}

TEST_F(ModelFolderTest, ATensorInTwoShards) {
  write_folder(folder_, {.shape = {}, .shards = 2});
  auto tensors = tensors_of({}, DType::bf16);
  tensors.erase(tensors.begin() + 1, tensors.end() - 9);
  write_safetensors(folder_ / "model-00002-of-00002.safetensors", tensors);
  EXPECT_THAT(refusal(ErrorKind::corrupt), HasSubstr("holds tensor 'lm_head.weight', which is in "
                                                     "'model-00001-of-00002.safetensors' too"));
}

TEST_F(ModelFolderTest, APipeIsNotWaitedFor) {
  write_folder(folder_);
  fs::remove(folder_ / "config.json");
  ASSERT_EQ(::mkfifo((folder_ / "config.json").c_str(), 0600), 0);
  EXPECT_THAT(ModelFolder::open(folder_).error().message(), HasSubstr("pipe"));
}

}  // namespace
}  // namespace trainward::checkpoint::huggingface

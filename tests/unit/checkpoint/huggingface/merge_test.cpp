// Adapters and their base as one model, against the same in double; and which pairs are refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/huggingface/adapter/merged_source.hpp"
#include "checkpoint/huggingface/export.hpp"
#include "tests/unit/checkpoint/huggingface/trained.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::Medium;
using checkpoint::testing::names_in;
using checkpoint::testing::read_bytes;
using checkpoint::testing::ScratchFolder;
using testing::adapted;
using testing::adapters_of;
using testing::floats_of;
using ::testing::HasSubstr;
using testing::OwnedTensor;
using testing::record_for;
using testing::Shape;
using testing::write_folder;

const LoraSettings all_linear{
    4, 8, 0, false, {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"}};

class MergeTest : public ::testing::Test {
 protected:
  void make_base(DType type = DType::bf16, std::size_t shards = 1, Shape shape = {}) {
    fs::remove_all(base_);
    write_folder(base_, {shape, type, shards});
  }
  fs::path checkpoint(const LoraSettings& lora = all_linear, Shape shape = {}) {
    fs::remove_all(root_);
    ModelRecord record = record_for(base_);
    record.lora = lora;
    return adapted(root_, shape, record);
  }
  Status merge_to(const fs::path& from, const ExportOptions& options = {}) {
    fs::remove_all(to_);
    const auto before = names_in(scratch_.path());
    auto done = merge(from, to_, options);
    if (done) return {};
    EXPECT_EQ(names_in(scratch_.path()), before) << "nothing stays";
    return propagate(done);
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path base_ = scratch_.path() / "base";
  fs::path root_ = scratch_.path() / "checkpoints";
  fs::path to_ = scratch_.path() / "to";
};

// W + scale * B * A of one element, in double.
double expected(const std::vector<float>& w, const std::vector<float>& a,
                const std::vector<float>& b, const LoraSettings& lora, std::size_t row,
                std::size_t column, std::size_t columns) {
  const auto r = static_cast<std::size_t>(lora.r);
  double sum = 0;
  for (std::size_t k = 0; k < r; ++k) {
    sum += double{b[row * r + k]} * double{a[k * columns + column]};
  }
  const double scale =
      lora.rank_stabilised ? lora.alpha / std::sqrt(double(lora.r)) : lora.alpha / double(lora.r);
  return double{w[row * columns + column]} + scale * sum;
}

void expect_merged(const fs::path& base, const fs::path& to,
                   const std::vector<OwnedTensor>& adapters, const LoraSettings& lora, DType type) {
  const auto before = ModelFolder::open(base);
  const auto after = ModelFolder::open(to);
  ASSERT_TRUE(before) << before.error().message();
  ASSERT_TRUE(after) << after.error().message();
  ASSERT_EQ(before->tensors().size(), after->tensors().size());
  std::map<std::string, std::vector<float>> values;
  for (const OwnedTensor& one : adapters) values[one.info.name] = floats_of(DType::f32, one.bytes);
  int merged = 0;
  for (const TensorView& tensor : after->tensors()) {
    const TensorView* old = before->find(tensor.info.name);
    ASSERT_NE(old, nullptr);
    ASSERT_EQ(tensor.info.shape, old->info.shape);
    ASSERT_EQ(tensor.info.dtype, type);
    const std::string module = tensor.info.name.substr(0, tensor.info.name.size() - 7);
    const auto w = floats_of(old->info.dtype, old->bytes);
    const auto found = floats_of(type, tensor.bytes);
    const auto a = values.find(module + ".lora_A.weight");
    if (a == values.end()) {
      EXPECT_EQ(w, found) << tensor.info.name;
      continue;
    }
    ++merged;
    const auto& b = values.at(module + ".lora_B.weight");
    const auto columns = static_cast<std::size_t>(tensor.info.shape[1]);
    const double rounding = type == DType::bf16 ? 1.0 / 256 : type == DType::f16 ? 1.0 / 2048 : 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const double want = expected(w, a->second, b, lora, i / columns, i % columns, columns);
      ASSERT_NEAR(found[i], want, std::abs(want) * rounding * 1.001 + 2e-6)
          << tensor.info.name << " " << i;
    }
  }
  EXPECT_EQ(merged, static_cast<int>(adapters.size() / 2));
}

TEST_F(MergeTest, IsWhatDoubleSays) {
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    for (const std::size_t shards : {1U, 3U}) {
      for (const bool stabilised : {false, true}) {
        SCOPED_TRACE(fmt::format("{} {} {}", to_string(type), shards, stabilised));
        make_base(type, shards);
        LoraSettings lora = all_linear;
        lora.rank_stabilised = stabilised;
        const auto done = merge_to(checkpoint(lora));
        ASSERT_TRUE(done) << done.error().message();
        expect_merged(base_, to_, adapters_of({}, lora), lora, type);
        EXPECT_EQ(read_bytes(to_ / "tokenizer.json"), read_bytes(base_ / "tokenizer.json"));
      }
    }
  }
}

TEST_F(MergeTest, AWidthThatIsNoMultipleOfAnything) {
  Shape shape;
  shape.inter = 37;
  make_base(DType::bf16, 1, shape);
  LoraSettings lora{3, 5, 0, false, {"down_proj", "up_proj"}};
  ASSERT_TRUE(merge_to(checkpoint(lora, shape)));
  expect_merged(base_, to_, adapters_of(shape, lora), lora, DType::bf16);
}

TEST_F(MergeTest, OfPeftsFolderTheSameBytes) {
  make_base();
  ModelRecord record = record_for(base_);
  record.lora = all_linear;
  record.chat_template = "{{ messages[0].content }}";
  const fs::path from = adapted(root_, {}, record);
  const std::vector<std::string> names{"model.safetensors", "chat_template.jinja"};
  ASSERT_TRUE(merge_to(from));
  std::vector<std::string> ours;
  for (const std::string& name : names) ours.push_back(read_bytes(to_ / name));
  ASSERT_TRUE(export_model(from, scratch_.path() / "peft"));
  const auto done = merge_to(scratch_.path() / "peft");
  ASSERT_TRUE(done) << done.error().message();
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_TRUE(read_bytes(to_ / names[i]) == ours[i]) << names[i];
  }
}

TEST_F(MergeTest, ZeroBGivesTheBase) {
  make_base();
  ModelRecord record = record_for(base_);
  record.lora = all_linear;
  auto adapters = adapters_of({}, all_linear);
  for (OwnedTensor& tensor : adapters) {
    if (!tensor.info.name.ends_with("lora_B.weight")) continue;
    std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
  }
  ASSERT_TRUE(merge_to(testing::saved(root_, record, adapters)));
  const auto before = ModelFolder::open(base_);
  const auto after = ModelFolder::open(to_);
  for (const TensorView& tensor : before->tensors()) {
    const TensorView* found = after->find(tensor.info.name);
    EXPECT_TRUE(std::equal(tensor.bytes.begin(), tensor.bytes.end(), found->bytes.begin()));
  }
}

TEST_F(MergeTest, AnotherBaseOnlyWhenInsistedOn) {
  make_base();
  const fs::path from = checkpoint();
  write_folder(scratch_.path() / "other", {.shape = {}, .seed = 2});
  ExportOptions options;
  options.base = scratch_.path() / "other";
  const auto refused = merge_to(from, options);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("other weights"));
  EXPECT_THAT(refused.error().message(), HasSubstr("--any-base"));
  options.any_base = true;
  ASSERT_TRUE(merge_to(from, options));
  expect_merged(scratch_.path() / "other", to_, adapters_of({}, all_linear), all_linear,
                DType::bf16);
}

TEST_F(MergeTest, ACopyOfTheBaseIsTheBase) {
  make_base();
  const fs::path from = checkpoint();
  fs::rename(base_, scratch_.path() / "moved");
  fs::copy(scratch_.path() / "moved", scratch_.path() / "copied");
  EXPECT_THAT(merge_to(from).error().message(), HasSubstr("--base FOLDER"));
  ExportOptions options;
  options.base = scratch_.path() / "copied";
  EXPECT_TRUE(merge_to(from, options));
}

TEST_F(MergeTest, ABaseThatDoesNotFit) {
  make_base();
  const fs::path from = checkpoint();
  ExportOptions options;
  options.any_base = true;
  const auto with = [&](Shape shape) {
    write_folder(scratch_.path() / "other", {shape});
    options.base = scratch_.path() / "other";
    return merge_to(from, options).error().message();
  };
  Shape wide;
  wide.hidden = 32;
  EXPECT_THAT(with(wide), HasSubstr("the adapter is for"));
  Shape shallow;
  shallow.layers = 1;
  EXPECT_THAT(with(shallow), HasSubstr("holds no 'model.layers.1."));
}

TEST_F(MergeTest, AWeightThatIsNoNumberIsNamed) {
  make_base(DType::f32);
  const fs::path from = checkpoint();
  auto tensors = testing::tensors_of({}, DType::f32);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(tensors[2].bytes.data() + 8, &nan, sizeof nan);
  testing::write_safetensors(base_ / "model.safetensors", tensors);
  ExportOptions options;
  options.any_base = true;
  const auto damaged = merge_to(from, options);
  ASSERT_FALSE(damaged);
  EXPECT_EQ(damaged.error().kind, ErrorKind::usage);
  EXPECT_THAT(damaged.error().message(), HasSubstr(tensors[2].info.name + "' holds nan at ["));
}

TEST_F(MergeTest, AWholeModelHasNothingToMerge) {
  make_base();
  const auto done = merge_to(testing::untrained(root_, base_, record_for(base_)));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("ckpt export --hf"));
}

TEST_F(MergeTest, ATiedHeadIsLeftOutUnlessItIsAnother) {
  Shape shape;
  make_base(DType::bf16, 1, shape);  // with lm_head.weight
  json::object config = testing::config_of(shape);
  config["tie_word_embeddings"] = true;
  testing::write_text(base_ / "config.json", json::serialize(config));
  EXPECT_THAT(merge_to(checkpoint()).error().message(), HasSubstr("ties its head"));
  auto tensors = testing::tensors_of(shape, DType::bf16);
  tensors[0].bytes = tensors[1].bytes;
  testing::write_safetensors(base_ / "model.safetensors", tensors);
  ASSERT_TRUE(merge_to(checkpoint()));
  EXPECT_EQ(ModelFolder::open(to_)->find("lm_head.weight"), nullptr);
}

TEST_F(MergeTest, ASumTooLargeForTheTypeIsRefused) {
  make_base(DType::f16);
  LoraSettings lora = all_linear;
  lora.alpha = 1e7;
  const auto done = merge_to(checkpoint(lora));
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message(), HasSubstr("too large for F16"));
}

TEST(MergedSource, PiecesAreTheWholeHoweverTheyAreCut) {
  std::vector<float> w(300 * 511);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(i % 977) * 0.01F;
  LoraPair pair{2, 511, 300, std::vector<float>(2 * 511, 0.5F), std::vector<float>(300 * 2)};
  for (std::size_t i = 0; i < pair.b.size(); ++i) pair.b[i] = static_cast<float>(i) * 0.1F;
  const TensorView base{{"w", DType::f32, {300, 511}}, std::as_bytes(std::span(w))};
  const auto source = merged(base, pair, 0.5, DType::bf16);
  ASSERT_TRUE(source) << source.error().message();
  std::vector<std::byte> whole(w.size() * 2);
  ASSERT_TRUE(source->read(0, whole));
  for (const std::size_t at : {0U, 1U, 2047U, 131073U}) {
    for (const std::size_t size : {1U, 2U, 3U, 70001U}) {
      std::vector<std::byte> piece(size);
      ASSERT_TRUE(source->read(at, piece));
      EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + static_cast<long>(at)));
    }
  }
}

}  // namespace
}  // namespace trainward::checkpoint::huggingface

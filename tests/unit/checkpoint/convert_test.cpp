// Copies in another form, and models as others keep them.
#include "checkpoint/tools/convert.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "checkpoint/format/floats.hpp"
#include "checkpoint/format/tensor_files.hpp"
#include "checkpoint/tools/diff.hpp"
#include "checkpoint/tools/file_sources.hpp"
#include "checkpoint/tools/plain_model.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::flip;
using ::testing::HasSubstr;
using testing::Medium;
using testing::names_in;
using ::testing::Not;
using testing::read_bytes;
using testing::Sample;
using testing::ScratchFolder;
using testing::write_bytes;

class ConvertTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Sample sample(40);
    sample.add_model("table", DType::i64, {3});
    auto folder = save(scratch_.path() / "from", sample.contents());
    ASSERT_TRUE(folder) << folder.error().message();
    from_ = *folder;
  }
  // A plain model of three shards, made by the code under test.
  fs::path plain_shards() {
    ConvertOptions options;
    options.save.shard_bytes = 300;
    EXPECT_TRUE(convert_to_plain_model(from_, to_, options));
    return to_;
  }
  static std::string refusal(const fs::path& path) {
    const auto model = open_plain_model(path);
    if (model) return "";
    EXPECT_EQ(model.error().kind, ErrorKind::corrupt) << model.error().message();
    EXPECT_FALSE(model.error().hint.empty());
    return model.error().message();
  }
  void rewrite_index(const std::string& from, const std::string& to) {
    std::string text = read_bytes(to_ / "model.safetensors.index.json");
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos);
    write_bytes(to_ / "model.safetensors.index.json", text.replace(at, from.size(), to));
  }
  ScratchFolder scratch_{Medium::memory};
  fs::path from_;
  fs::path to_ = scratch_.path() / "to";
};

TEST_F(ConvertTest, ACopyInShardsHoldsTheSame) {
  ConvertOptions options;
  options.save.shard_bytes = 300;
  const auto copy = convert(from_, to_, options);
  ASSERT_TRUE(copy) << copy.error().message();
  EXPECT_EQ(*copy, to_ / "step-00000040");
  EXPECT_THAT(names_in(*copy), Contains("model.safetensors.index.json"));
  EXPECT_TRUE(diff(from_, *copy)->empty());
  EXPECT_EQ(digest(from_).value(), digest(*copy).value());
}

TEST_F(ConvertTest, FloatsOfTheModelBecomeAnotherTypeAndNothingElse) {
  ConvertOptions options;
  options.model_type = DType::bf16;
  const auto copy = convert(from_, to_, options);
  ASSERT_TRUE(copy) << copy.error().message();
  const auto before = map(from_);
  const auto after = map(*copy);
  ASSERT_TRUE(before && after);
  ASSERT_EQ(before->model().size(), after->model().size());
  for (std::size_t i = 0; i < after->model().size(); ++i) {
    const TensorView& from = before->model()[i];
    const TensorView& to = after->model()[i];
    EXPECT_EQ(to.info.dtype, is_float(from.info.dtype) ? DType::bf16 : from.info.dtype);
    if (from.info.dtype != DType::f32) {
      EXPECT_TRUE(std::equal(from.bytes.begin(), from.bytes.end(), to.bytes.begin()));
      continue;
    }
    for (std::size_t at = 0; at < to.bytes.size() / 2; ++at) {
      std::uint16_t got = 0;
      float value = 0;
      std::memcpy(&got, to.bytes.data() + 2 * at, sizeof got);
      std::memcpy(&value, from.bytes.data() + 4 * at, sizeof value);
      ASSERT_EQ(got, bf16_from_float(value)) << from.info.name << " " << at;
    }
  }
  for (std::size_t i = 0; i < after->optimizer().size(); ++i) {
    EXPECT_EQ(after->optimizer()[i].info.dtype, before->optimizer()[i].info.dtype);
  }
}

TEST_F(ConvertTest, PiecesNeedNotEndWhereElementsDo) {
  std::vector<float> values(200'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) * 0.37F;
  const TensorView view{{"x", DType::f32, {200'000}}, std::as_bytes(std::span(values))};
  const TensorSource source = converted(source_of(view), DType::bf16);
  std::vector<std::byte> whole(400'000);
  ASSERT_TRUE(source.read(0, whole));
  std::vector<std::byte> piece(333'333);
  ASSERT_TRUE(source.read(777, piece));
  EXPECT_TRUE(std::equal(piece.begin(), piece.end(), whole.begin() + 777));
}

TEST_F(ConvertTest, OnlyTheWeightsAsOthersKeepThem) {
  ASSERT_TRUE(convert_to_plain_model(from_, to_ / ""));
  EXPECT_THAT(names_in(to_), ElementsAre("model.safetensors"));
  EXPECT_THAT(names_in(scratch_.path()), ElementsAre("from", "to")) << "nothing temporary stays";
  for (const fs::path& again : {to_, to_ / "model.safetensors"}) {
    const fs::path root = scratch_.path() / "back" / again.filename();
    const auto copy = convert(again, root);
    ASSERT_TRUE(copy) << copy.error().message();
    EXPECT_EQ(copy->filename(), "step-00000040") << "the file says which step it is of";
    EXPECT_THAT(load(*copy)->optimizer(), ::testing::IsEmpty());
  }
}

TEST_F(ConvertTest, ShardsOfOthersAreOneModel) {
  const auto copy = convert(plain_shards(), scratch_.path() / "back");
  ASSERT_TRUE(copy) << copy.error().message();
  const auto found = diff(from_, *copy);
  ASSERT_TRUE(found);
  for (const TensorDifference& one : found->tensors) EXPECT_EQ(one.section, "optimizer");
}

TEST_F(ConvertTest, AnIndexThatSaysSomethingElseIsRefused) {
  plain_shards();
  EXPECT_EQ(refusal(to_), "");
  const std::string index = read_bytes(to_ / "model.safetensors.index.json");
  rewrite_index("\"scale\"", "\"other\"");
  EXPECT_THAT(refusal(to_), HasSubstr("scale"));
  write_bytes(to_ / "model.safetensors.index.json", index);
  rewrite_index("\"weight_map\":{",
                "\"weight_map\":{\"ghost\":\"model-00001-of-00002.safetensors\",");
  EXPECT_THAT(refusal(to_), HasSubstr("tensors, the shards hold"));
  write_bytes(to_ / "model.safetensors.index.json", index);
  rewrite_index("\"total_size\":", "\"total_size\":1");
  EXPECT_THAT(refusal(to_), HasSubstr("bytes, they have"));
  write_bytes(to_ / "model.safetensors.index.json", index);
  const auto parsed = parse_shard_index(index, "index");
  const std::string& shard = parsed->weight_map.begin()->second;
  rewrite_index("\"" + shard + "\"", "\"../" + shard + "\"");
  EXPECT_THAT(refusal(to_), HasSubstr("outside this folder"));
}

TEST_F(ConvertTest, LinksAndMissingShardsAreRefused) {
  plain_shards();
  const fs::path shard =
      to_ / parse_shard_index(read_bytes(to_ / "model.safetensors.index.json"), "")
                ->weight_map.begin()
                ->second;
  fs::rename(shard, scratch_.path() / "elsewhere");
  EXPECT_THAT(refusal(to_), HasSubstr("shards"));
  fs::create_symlink(scratch_.path() / "elsewhere", shard);
  EXPECT_THAT(refusal(to_), HasSubstr("symbolic link"));
  EXPECT_THAT(refusal(scratch_.path()), HasSubstr("holds neither"));
}

TEST_F(ConvertTest, NothingIsEverReplaced) {
  const auto before = digest(from_).value();
  for (const auto& done : {convert(from_, from_.parent_path()), convert(from_, to_)}) {
    if (done) continue;
    EXPECT_EQ(done.error().kind, ErrorKind::usage);
    EXPECT_THAT(done.error().message(), HasSubstr("exists already"));
  }
  EXPECT_FALSE(convert(from_, from_.parent_path()));
  EXPECT_FALSE(convert(from_, to_)) << "the second time";
  EXPECT_FALSE(convert_to_plain_model(from_, to_));
  EXPECT_EQ(digest(from_).value(), before);
}

TEST_F(ConvertTest, ADamagedSourceOrAnEndLeavesNothing) {
  int calls = 0;
  ConvertOptions options;
  options.save.io.progress = [&](std::uint64_t done, std::uint64_t total) -> Status {
    EXPECT_LE(done, total);
    if (++calls < 5) return {};
    return fail(ErrorKind::transient, "enough");
  };
  const auto ended = convert(from_, to_, options);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().what, "enough");
  EXPECT_THAT(names_in(to_), ::testing::IsEmpty());
  calls = 0;
  EXPECT_FALSE(convert_to_plain_model(from_, scratch_.path() / "plain", options));
  EXPECT_THAT(names_in(scratch_.path()), ElementsAre("from", "to"));
  flip(from_ / "model.safetensors", 4200, 1);
  EXPECT_EQ(convert(from_, to_).error().kind, ErrorKind::corrupt);
  EXPECT_THAT(names_in(to_), ::testing::IsEmpty());
}

TEST_F(ConvertTest, OnlyThreeTypesToConvertTo) {
  ConvertOptions options;
  options.model_type = DType::i8;
  EXPECT_EQ(convert(from_, to_, options).error().kind, ErrorKind::usage);
  EXPECT_FALSE(fs::exists(to_));
}

}  // namespace
}  // namespace trainward::checkpoint

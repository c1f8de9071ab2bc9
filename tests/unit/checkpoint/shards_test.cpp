// Tensor files cut into shards, and a checkpoint read straight into the memory it is for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "checkpoint/format/tensor_files.hpp"
#include "checkpoint/reader.hpp"
#include "support.hpp"
#include "system_calls.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using testing::flip;
using ::testing::HasSubstr;
using testing::Medium;
using testing::names_in;
using testing::read_bytes;
using testing::Sample;
using testing::ScratchFolder;
using testing::write_bytes;

class Shards : public ::testing::Test {
 protected:
  Shards() {
    for (int i = 0; i < 5; ++i) sample_.add_model("block." + std::to_string(i), DType::f32, {300});
  }
  fs::path save_in(std::uint64_t shard_bytes) {
    SaveOptions options;
    options.shard_bytes = shard_bytes;
    auto folder = save(scratch_.path() / std::to_string(shard_bytes), sample_.contents(), options);
    EXPECT_TRUE(folder) << folder.error().message();
    return *folder;
  }
  ScratchFolder scratch_{Medium::memory};
  Sample sample_{1};
};

TEST_F(Shards, HoldTheSameTensorsAsOneFile) {
  const fs::path whole = save_in(0);
  const fs::path cut = save_in(2500);
  EXPECT_THAT(names_in(cut),
              ::testing::IsSupersetOf({"model-00001-of-00003.safetensors",
                                       "model-00003-of-00003.safetensors",
                                       "model.safetensors.index.json", "optimizer.safetensors"}));
  EXPECT_TRUE(verify(cut));
  EXPECT_EQ(digest(cut).value(), digest(whole).value());
  auto index = parse_shard_index(read_bytes(cut / "model.safetensors.index.json"), "index");
  ASSERT_TRUE(index) << index.error().message();
  EXPECT_EQ(index->weight_map.at("block.4"), "model-00003-of-00003.safetensors");
  std::uint64_t bytes = 0;
  for (const TensorView& tensor : sample_.contents().model) bytes += tensor.bytes.size();
  EXPECT_EQ(index->total_bytes, bytes);
}

TEST_F(Shards, ATensorLargerThanAShardGetsOneOfItsOwn) {
  const fs::path cut = save_in(1);
  EXPECT_TRUE(verify(cut));
  EXPECT_EQ(digest(cut).value(), digest(save_in(0)).value());
}

TEST_F(Shards, EveryFlippedByteOfAnIndexIsFound) {
  const fs::path cut = save_in(2500);
  const fs::path index = cut / "model.safetensors.index.json";
  for (std::uint64_t at = 0; at < fs::file_size(index); ++at) {
    flip(index, at, 2);
    EXPECT_FALSE(verify(cut)) << at;
    EXPECT_FALSE(map(cut)) << at;  // text is compared with its checksum even when tensors are not
    flip(index, at, 2);
  }
  EXPECT_TRUE(verify(cut));
}

TEST(TensorFiles, MustBelongTogether) {
  const auto problem = [](const std::vector<std::string>& files) {
    auto found = section_files("model", files);
    return found ? std::string("accepted") : found.error().what;
  };
  EXPECT_EQ(problem({"model.safetensors", "state.json"}), "accepted");
  EXPECT_EQ(problem({"model-00002-of-00002.safetensors", "model.safetensors.index.json",
                     "model-00001-of-00002.safetensors"}),
            "accepted");
  EXPECT_THAT(problem({}), HasSubstr("holds neither"));
  EXPECT_THAT(problem({"model.safetensors.index.json"}), HasSubstr("no shards"));
  EXPECT_THAT(problem({"model-00001-of-00002.safetensors", "model.safetensors.index.json"}),
              HasSubstr("not 'model.safetensors'"));
  EXPECT_THAT(problem({"model-00001-of-00003.safetensors", "model-00003-of-00003.safetensors",
                       "model.safetensors.index.json"}),
              HasSubstr("2 shards, but not 'model-00001-of-00002"));
  EXPECT_THAT(problem({"model.safetensors", "model-00001-of-00001.safetensors"}),
              HasSubstr("both"));
}

TEST(TensorFiles, AnIndexStaysInItsFolder) {
  const auto problem = [](const std::string& text) {
    auto index = parse_shard_index(text, "here");
    if (index) return std::string("accepted");
    EXPECT_EQ(index.error().kind, ErrorKind::corrupt);
    EXPECT_EQ(index.error().where, "here");
    return index.error().what;
  };
  const auto with = [](const std::string& file) {
    return R"({"metadata":{"total_size":4},"weight_map":{"a":")" + file + "\"}}";
  };
  EXPECT_EQ(problem(with("model-00001-of-00002.safetensors")), "accepted");
  for (const char* file : {"../model.safetensors", "/etc/passwd", "a/b", ".."}) {
    EXPECT_THAT(problem(with(file)), HasSubstr("outside this folder"));
  }
  EXPECT_THAT(problem(R"({"metadata":{"total_size":-4},"weight_map":{}})"), HasSubstr("-4"));
  EXPECT_THAT(problem(R"({"metadata":{"total_size":4},"weight_map":{"a":1}})"),
              HasSubstr("in no file"));
  EXPECT_THAT(problem(R"({"metadata":{"total_size":4},"weight_map":{"a":"x","a":"y"}})"),
              HasSubstr("twice"));
}

class ReadInto : public Shards {
 protected:
  // Memory for every tensor of the sample.
  struct Room {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<TensorTarget> targets;
    explicit Room(const std::vector<TensorView>& like) : bytes(like.size()) {
      for (std::size_t i = 0; i < like.size(); ++i) {
        bytes[i].resize(like[i].bytes.size());
        targets.push_back({like[i].info, bytes[i]});
      }
    }
    [[nodiscard]] bool equals(const std::vector<TensorView>& expected) const {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        if (!std::equal(bytes[i].begin(), bytes[i].end(), expected[i].bytes.begin(),
                        expected[i].bytes.end())) {
          return false;
        }
      }
      return true;
    }
  };
};

TEST_F(ReadInto, FillsTheTargets) {
  sample_.add_model("empty", DType::f32, {0, 4});
  sample_.add_optimizer("large", DType::f32, {3'000'000});
  for (const std::uint64_t shard_bytes : {0, 2500}) {
    auto reader = Reader::open(save_in(shard_bytes));
    ASSERT_TRUE(reader) << reader.error().message();
    EXPECT_EQ(reader->state().step, 1);
    Room model(sample_.contents().model);
    Room optimizer(sample_.contents().optimizer);
    auto filled = reader->read_into(model.targets, optimizer.targets);
    ASSERT_TRUE(filled) << filled.error().message();
    EXPECT_TRUE(model.equals(sample_.contents().model));
    EXPECT_TRUE(optimizer.equals(sample_.contents().optimizer));
    // Fewer targets than tensors.
    Room some({sample_.contents().model[1]});
    ASSERT_TRUE(reader->read_into(some.targets, {}));
    EXPECT_TRUE(some.equals({sample_.contents().model[1]}));
  }
}

TEST_F(ReadInto, SaysHowAnotherModelDiffers) {
  auto reader = Reader::open(save_in(0));
  ASSERT_TRUE(reader);
  std::vector<TensorView> other = sample_.contents().model;
  other[0].info.name = "no.such.tensor";
  other[1].info.dtype = DType::i8;
  Room model(other);
  auto filled = reader->read_into(model.targets, {});
  ASSERT_FALSE(filled);
  EXPECT_EQ(filled.error().kind, ErrorKind::usage);
  EXPECT_THAT(filled.error().message(), HasSubstr("step-00000001"));
  EXPECT_THAT(filled.error().what, HasSubstr("is of another model: 2 of"));
  EXPECT_THAT(filled.error().what, HasSubstr("no.such.tensor is missing"));
  EXPECT_THAT(filled.error().what, HasSubstr("instead of I8["));
}

TEST_F(ReadInto, DamageIsFoundWhereverItIs) {
  const fs::path folder = save_in(2500);
  for (const char* name : {"model-00002-of-00003.safetensors", "optimizer.safetensors"}) {
    const fs::path file = folder / name;
    for (std::uint64_t at = 0; at < fs::file_size(file); at += 37) {
      flip(file, at, 64);
      auto reader = Reader::open(folder);
      if (reader) {
        Room model(sample_.contents().model);
        Room optimizer(sample_.contents().optimizer);
        auto filled = reader->read_into(model.targets, optimizer.targets);
        ASSERT_FALSE(filled) << name << " byte " << at;
        EXPECT_EQ(filled.error().kind, ErrorKind::corrupt);
      }
      flip(file, at, 64);
    }
  }
}

}  // namespace
}  // namespace trainward::checkpoint

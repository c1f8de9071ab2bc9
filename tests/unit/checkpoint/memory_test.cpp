// Verifying a checkpoint folder takes little memory, whatever its owner put into it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/disk/root_folder.hpp"
#include "checkpoint/format/block_hash.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/strict_json.hpp"
#include "memory_use.hpp"
#include "support.hpp"

namespace trainward::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using testing::read_bytes;
using testing::Sample;
using testing::ScratchFolder;
using testing::write_bytes;

constexpr std::int64_t most_kib = 64 * 1024;

std::string repeated(std::string text, std::string_view piece, std::string_view end,
                     std::size_t bytes) {
  text.reserve(bytes);
  while (text.size() + piece.size() + end.size() < bytes) text += piece;
  return text.append(end);
}

class CheckpointMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!memory_can_be_measured) GTEST_SKIP() << "the sanitizer's own memory is counted as well";
    auto saved = save(scratch_.path(), Sample(1).contents());
    ASSERT_TRUE(saved);
    folder_ = *saved;
  }
  // Another file in its place, and a manifest that fits it.
  void replace(std::string_view name, const std::string& bytes) {
    write_bytes(folder_ / name, bytes);
    auto manifest = parse_manifest(read_bytes(folder_ / name::manifest), "manifest");
    ASSERT_TRUE(manifest);
    for (FileEntry& entry : manifest->files) {
      if (entry.name != name) continue;
      BlockHasher hasher;
      hasher.update(bytes);
      entry.size = bytes.size();
      entry.blocks = hasher.finish();
    }
    write_bytes(folder_ / name::manifest, encode(*manifest));
  }
  void expect_refused_cheaply() const {
    const std::int64_t kib = peak_kib([&] { return !verify(folder_); });
    EXPECT_GE(kib, 0) << "was taken for a whole one";
    EXPECT_LT(kib, most_kib);
  }
  ScratchFolder scratch_{testing::Medium::memory};
  fs::path folder_;
};

TEST_F(CheckpointMemory, OfHostileStates) {
  for (const std::string& state :
       {repeated("{\"extra\":[", "0,", "0]}", max_state_bytes),
        repeated("{\"extra\":{\"a\":\"", "x", "\"}}", max_state_bytes),
        repeated("[", "[],", "[]]", max_state_bytes), std::string(63U << 20U, ' ')}) {
    replace(name::state, state);
    expect_refused_cheaply();
  }
}

TEST_F(CheckpointMemory, OfHostileHeaders) {
  for (const std::string& header :
       {repeated("{\"a\":[", "0,", "0]}", 24'000'000),
        repeated("{\"a\":\"", "x", "\"}", 24'000'000),
        repeated("{", R"("a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},)", "\"z\":0}",
                 24'000'000)}) {
    std::string file(8, '\0');
    const std::uint64_t size = header.size();
    std::memcpy(file.data(), &size, sizeof size);
    replace("model.safetensors", file + header);
    expect_refused_cheaply();
  }
}

TEST_F(CheckpointMemory, OfHostileManifests) {
  const std::size_t most = max_manifest_bytes - 100;
  for (const std::string& text : {repeated("{\"files\":[", "{},", "{}],\n", most),
                                  repeated("{\"a\":\"", "x", "\",\n", most)}) {
    write_bytes(folder_ / name::manifest, text + "  \"checksum\": \"" + hash_hex(text) + "\"\n}\n");
    expect_refused_cheaply();
  }
}

TEST_F(CheckpointMemory, OfNamesWithoutNumber) {
  const std::string padding(200, 'n');
  for (int i = 1; i <= 50'000; ++i) {
    fs::create_directory(scratch_.path() / fmt::format(".tmp-step-{:08}-{}", i, padding));
    fs::create_directory(scratch_.path() / fmt::format("step-{:08}", i + 1));
  }
  const std::int64_t kib = peak_kib([&] {
    clean_up(scratch_.path());
    auto found = step_folders(scratch_.path());
    return found && found->size() >= 20'000 && found->size() <= 40'000 &&
           found->front().filename() == "step-00050001";
  });
  EXPECT_GE(kib, 0);
  EXPECT_LT(kib, 32 * 1024);
  EXPECT_FALSE(fs::exists(scratch_.path() / (".tmp-step-00000001-" + padding)));
}

// A program may have kept its whole tokenizer there.
TEST_F(CheckpointMemory, ALargeStateIsReadAllTheSame) {
  Sample sample(2);
  Contents contents = sample.contents();
  json::object words;
  for (int i = 0; i < 100'000; ++i) words[fmt::format("word{}", i)] = i;
  contents.state.extra["vocabulary"] = std::move(words);
  auto saved = save(scratch_.path(), contents);
  ASSERT_TRUE(saved) << saved.error().message();
  EXPECT_TRUE(verify(*saved));
  json::array numbers(300'000, 0);
  contents.state.extra["numbers"] = std::move(numbers);
  const auto refused = save(scratch_.path(), contents);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message(), HasSubstr("too many keys and values"));
}

}  // namespace
}  // namespace trainward::checkpoint

// The digest of a base model, and when it must be made again.
#include "checkpoint/huggingface/model/weights_digest.hpp"

#include <gtest/gtest.h>

#include "checkpoint/huggingface/model/model_folder.hpp"
#include "common/base/digest.hpp"
#include "tests/unit/checkpoint/huggingface/support.hpp"
#include "tests/unit/checkpoint/support.hpp"

namespace trainward::checkpoint::huggingface {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::read_bytes;
using testing::write_folder;

struct Facts {
  WeightsIdentity identity;
  std::string digest;
};

Facts facts_of(const fs::path& folder) {
  const auto model = ModelFolder::open(folder);
  if (!model) return {};
  return {identity_of(model->weights()).value(), digest_of(model->weights()).value()};
}

// File systems count time in ticks of some milliseconds: returns in a later one than it began in.
void pass_a_tick() {
  const checkpoint::testing::ScratchFolder scratch;
  const fs::path file = scratch.path() / "clock";
  testing::write_text(file, "");
  const auto first = fs::last_write_time(file);
  while (fs::last_write_time(file) == first) testing::write_text(file, "");
}

TEST(WeightsDigest, IsWhatSha256sumSays) {
  const checkpoint::testing::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "m";
  write_folder(folder, {.shape = {}, .shards = 2});
  std::string lines;
  for (const std::string name :
       {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
    lines += sha256_hex(read_bytes(folder / name)) + "  " + name + "\n";
  }
  EXPECT_EQ(facts_of(folder).digest, sha256_hex(lines));
}

TEST(WeightsDigest, ACopyHasAnotherIdentityAndTheSameDigest) {
  const checkpoint::testing::ScratchFolder scratch;
  write_folder(scratch.path() / "a");
  fs::copy(scratch.path() / "a", scratch.path() / "b");
  const Facts a = facts_of(scratch.path() / "a");
  const Facts b = facts_of(scratch.path() / "b");
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_NE(a.identity, b.identity);
  EXPECT_EQ(a.identity, facts_of(scratch.path() / "a").identity);
}

TEST(WeightsDigest, OtherBytesShowInBothEvenWhenTheirTimeIsSetBack) {
  const checkpoint::testing::ScratchFolder scratch;
  const fs::path folder = scratch.path() / "m";
  write_folder(folder);
  const Facts before = facts_of(folder);
  const fs::path file = folder / "model.safetensors";
  const auto time = fs::last_write_time(file);
  pass_a_tick();
  checkpoint::testing::flip(file, fs::file_size(file) - 1, 1);
  fs::last_write_time(file, time);
  const Facts after = facts_of(folder);
  EXPECT_NE(before.digest, after.digest);
  EXPECT_NE(before.identity, after.identity);
}

TEST(WeightsDigest, TheIdentityComesBackFromJson) {
  const checkpoint::testing::ScratchFolder scratch;
  write_folder(scratch.path() / "m", {.shape = {}, .shards = 2});
  const WeightsIdentity identity = facts_of(scratch.path() / "m").identity;
  EXPECT_EQ(parse_identity(to_json(identity)).value(), identity);
  EXPECT_FALSE(parse_identity({1}));
  EXPECT_FALSE(parse_identity({json::object{{"name", "x"}}}));
}

TEST(WeightsDigest, EndsWhenItIsTold) {
  const checkpoint::testing::ScratchFolder scratch;
  write_folder(scratch.path() / "m");
  const auto model = ModelFolder::open(scratch.path() / "m");
  ASSERT_TRUE(model);
  const auto digest = digest_of(model->weights(), [](std::uint64_t done, std::uint64_t total) {
    EXPECT_EQ(done, total);
    return Status(fail(ErrorKind::transient, "enough"));
  });
  ASSERT_FALSE(digest);
  EXPECT_EQ(digest.error().what, "enough");
}

}  // namespace
}  // namespace trainward::checkpoint::huggingface

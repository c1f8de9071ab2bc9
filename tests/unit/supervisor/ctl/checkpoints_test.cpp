// What the ckpt commands print of checkpoints on the disk.
#include <cstring>
#include <limits>

#include "checkpoint/retention.hpp"
#include "common/base/json/json.hpp"
#include "fixture.hpp"
#include "supervisor/config/config.hpp"
#include "support.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
using checkpoint::testing::Sample;
using testing::HasSubstr;
using testing::Not;

class CkptCommands : public CtlTest {
 protected:
  [[nodiscard]] std::string save(Sample& sample) const {
    auto saved = checkpoint::save(folder_, sample.contents());
    EXPECT_TRUE(saved) << saved.error().message();
    return saved ? saved->string() : "";
  }
  [[nodiscard]] std::string save(std::int64_t step) const {
    Sample sample(step);
    sample.add_model("w", checkpoint::DType::f32, {2, 3});
    return save(sample);
  }
  [[nodiscard]] json::value document(std::vector<std::string> words) const {
    words.insert(words.begin(), {"--json", "ckpt"});
    return json::parse(ctl(std::move(words)).out);
  }
};

TEST_F(CkptCommands, TheListSaysWhyOneIsPinned) {
  const std::string old = save(10);
  ASSERT_TRUE(checkpoint::pin(old, "the best\x1b one"));
  EXPECT_THAT(ctl({"ckpt", "list", folder_.string()}).out,
              HasSubstr("pinned  " + old + " (kept: the best? one)\n"));
  EXPECT_EQ(document({"list", folder_.string()}).at(0).at("pin_reason"), "the best\x1b one");
}

TEST_F(CkptCommands, MarksHaveAColumnOnlyWhenThereAreAny) {
  const std::string old = save(10);
  EXPECT_THAT(ctl({"ckpt", "list", folder_.string()}).out, Not(HasSubstr("pinned")));
  ASSERT_EQ(ctl({"ckpt", "pin", old}).code, 0);
  EXPECT_THAT(ctl({"ckpt", "list", folder_.string()}).out, HasSubstr("pinned  " + old));
  fs::remove(folder_ / "latest");
  ASSERT_EQ(ctl({"ckpt", "unpin", old}).code, 0);
  EXPECT_THAT(ctl({"ckpt", "list", folder_.string()}).out, Not(HasSubstr("MARK")));
}

TEST_F(CkptCommands, TextFromACheckpointCannotDriveTheTerminal) {
  Sample hostile(1);
  hostile.contents().state.run = "\x1b[2J";
  hostile.contents().state.extra = {{"k", "\x1b"}};
  hostile.add_model("w", checkpoint::DType::f32, {1});
  const std::string path = save(hostile);
  ASSERT_TRUE(checkpoint::pin(path, "\x1b]0;owned\x07"));
  const std::string other = save(2);
  for (const std::vector<std::string>& words : {std::vector<std::string>{"list", folder_.string()},
                                                {"show", path, "--tensors"},
                                                {"diff", path, other},
                                                {"verify", path},
                                                {"repair", folder_.string(), "--dry-run"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.begin(), "ckpt");
    const Ran ran = ctl(arguments);
    EXPECT_THAT(ran.out, Not(testing::IsEmpty())) << words[0] << ": " << ran.err;
    EXPECT_THAT(ran.out + ran.err, Not(HasSubstr("\x1b"))) << words[0];
  }
}

TEST_F(CkptCommands, WhatIsNoNumberIsTextInJson) {
  const auto with_value = [this](std::int64_t step, float value) {
    Sample sample(step);
    checkpoint::TensorView& tensor = sample.add_model("x", checkpoint::DType::f32, {1});
    std::memcpy(const_cast<std::byte*>(tensor.bytes.data()), &value, sizeof(value));
    sample.contents().state.loss = std::numeric_limits<double>::quiet_NaN();
    return save(sample);
  };
  const std::string one = with_value(1, 1.0F);
  const std::string infinite = with_value(2, std::numeric_limits<float>::infinity());
  const json::value diff = document({"diff", one, infinite});
  EXPECT_EQ(diff.at("tensors").at(0).at("largest_absolute"), "inf");
  EXPECT_EQ(diff.at("tensors").at(0).at("first").at("shape").at(0), 1);
  EXPECT_EQ(document({"list", folder_.string()}).at(0).at("loss"), "nan");
  EXPECT_EQ(document({"show", one}).at("loss"), "nan");
}

// A prune by hand takes nothing that the daemon would have kept.
TEST_F(CkptCommands, PruneKeepsAsManyAsAConfigurationDoesUnlessTold) {
  const int kept = config::Program().checkpoints_keep;
  for (int step = 1; step <= kept + 1; ++step) (void)save(step);
  EXPECT_EQ(document({"prune", folder_.string()}).at("removed").as_array().size(), 1U);
  EXPECT_THAT(ctl({"ckpt", "prune", "--help"}).out,
              HasSubstr("stay (" + std::to_string(kept) + "; at least 2)"));
}

TEST_F(CkptCommands, VerbsTakeTheirOptionsBeforeAndAfter) {
  const std::string none = (folder_ / "none").string();
  EXPECT_EQ(ctl({"ckpt", "repair", "--dry-run", none}).code, 1);
  EXPECT_EQ(ctl({"ckpt", "repair", none, "--dry-run", "--json"}).code, 1);
  EXPECT_EQ(ctl({"ckpt", "prune", none, "--keep", "many"}).code, 2);
  EXPECT_EQ(ctl({"ckpt", "convert", none, none, "--type", "BF16", "--shard-size", "5 GB"}).code, 1);
  EXPECT_THAT(ctl({"ckpt", "unpn", none}).err, HasSubstr("did you mean 'unpin'?"));
}

}  // namespace
}  // namespace trainward::ctl

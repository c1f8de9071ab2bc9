// ckpt export --hf and ckpt merge: what they write, print and put into the card.
#include "checkpoint/huggingface/export.hpp"
#include "fixture.hpp"
#include "supervisor/record/store/store.hpp"
#include "tests/unit/checkpoint/huggingface/trained.hpp"

namespace trainward::ctl {
namespace {

namespace fs = std::filesystem;
namespace huggingface = checkpoint::huggingface;
using huggingface::testing::adapted;
using huggingface::testing::record_for;
using huggingface::testing::untrained;
using testing::HasSubstr;
using testing::Not;

class FolderCommands : public CtlTest {
 protected:
  void SetUp() override { huggingface::testing::write_folder(base_); }
  [[nodiscard]] std::string whole() const {
    return untrained(folder_ / "whole", base_, record_for(base_)).string();
  }
  [[nodiscard]] std::string adapters() const {
    huggingface::ModelRecord record = record_for(base_);
    record.lora = huggingface::LoraSettings{2, 4, 0, false, {"q_proj"}};
    return adapted(folder_ / "adapters", {}, record).string();
  }
  [[nodiscard]] static std::string text_of(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  fs::path base_ = folder_ / "base";
  std::string to_ = (folder_ / "to").string();
};

TEST_F(FolderCommands, AWholeModel) {
  const std::string from = whole();
  const Ran ran = ctl({"ckpt", "export", from, "--hf", to_});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(to_ + ": written, 21 tensors of a model"));
  EXPECT_EQ(text_of(fs::path(to_) / "tokenizer.json"), text_of(base_ / "tokenizer.json"));
  const Ran again = ctl({"ckpt", "export", from, "--hf", to_});
  EXPECT_EQ(again.code, 1);
  EXPECT_THAT(again.err, HasSubstr("exists already"));
  fs::remove_all(to_);
  const json::object document = as_json(
      {"ckpt", "export", folder_ / "whole", "--hf", to_, "--dtype", "F32", "--max-shard", "4KB"});
  EXPECT_EQ(string_or(document, "path", ""), to_);
  EXPECT_FALSE(bool_or(document, "adapter", true));
  EXPECT_EQ(int_or(document, "tensors", 0), 21);
  EXPECT_TRUE(fs::exists(fs::path(to_) / "model.safetensors.index.json"));
}

TEST_F(FolderCommands, AdaptersAndTheirMerge) {
  const std::string from = adapters();
  const json::object exported = as_json({"ckpt", "export", from, "--hf", to_});
  EXPECT_TRUE(bool_or(exported, "adapter", false));
  for (const std::string& each : {from, to_}) {
    const std::string merged = (folder_ / "merged").string();
    const Ran ran = ctl({"ckpt", "merge", each, "--hf", merged});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_THAT(ran.out, HasSubstr("21 tensors of a model"));
    fs::remove_all(merged);
  }
}

TEST_F(FolderCommands, AnotherBaseMustBeInsistedOn) {
  const std::string from = adapters();
  const std::string other = (folder_ / "other").string();
  huggingface::testing::write_folder(other, {.shape = {}, .seed = 9});
  const Ran refused = ctl({"ckpt", "merge", from, "--hf", to_, "--base", other});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("--any-base"));
  EXPECT_FALSE(fs::exists(to_));
  EXPECT_EQ(ctl({"ckpt", "merge", from, "--hf", to_, "--base", other, "--any-base"}).code, 0);
}

TEST_F(FolderCommands, WrongUse) {
  for (const std::vector<std::string>& words : {std::vector<std::string>{"export", "x"},
                                                {"export", "x", "y", "--hf", "z"},
                                                {"export", "x", "y", "--dtype", "bf16"},
                                                {"export", "x", "--hf", "y", "--layout", "zip"},
                                                {"export", "x", "--hf", "y", "--dtype", "int8"},
                                                {"merge", "x"}}) {
    std::vector<std::string> all = words;
    all.insert(all.begin(), "ckpt");
    EXPECT_EQ(ctl(all).code, 2) << testing::PrintToString(words);
  }
  EXPECT_THAT(ctl({"ckpt", "merge", (folder_ / "none").string(), "--hf", to_}).err,
              HasSubstr("no such folder"));
}

TEST_F(FolderCommands, TheCardTellsOfTheRunThatIsOnRecord) {
  const std::string from = whole();
  auto store = store::Store::open(folder_ / "trainward.db");
  ASSERT_TRUE(store) << store.error().message();
  ASSERT_TRUE(store->put_program({"lessons", "EXITED", "done", "", "", now_ms, 0}));
  store::AttemptRow attempt;
  attempt.program = "lessons";
  attempt.number = 1;
  attempt.started_ms = now_ms - 240'000;
  attempt.ended_ms = now_ms;
  attempt.cause = "done";
  ASSERT_TRUE(store->put_attempt(attempt));
  for (int step = 1; step <= 20; ++step) {
    store::StepRow row;
    row.step = step;
    row.attempt = 1;
    row.loss = 5.0 / step;
    ASSERT_TRUE(store->add_step("lessons", row));
  }
  ASSERT_TRUE(store->add_evaluation("lessons", {10, 1, 0.75, now_ms}));
  const fs::path attempts = folder_ / "runs" / "lessons" / "attempts" / "0001";
  fs::create_directories(attempts);
  std::ofstream(attempts / "worker.json")
      << R"({"data": "pairs.jsonl", "training_config": {"learning_rate": 0.0001, "schedule": null}})";

  ASSERT_EQ(ctl({"ckpt", "export", from, "--hf", to_}).code, 0);
  EXPECT_THAT(text_of(fs::path(to_) / "README.md"), Not(HasSubstr("pairs.jsonl")))
      << "another run's, as far as anybody knows";
  fs::remove_all(to_);
  ASSERT_TRUE(store->put_checkpoint("lessons", {from, 12, 1, 10, "verified", "", now_ms}));
  ASSERT_EQ(ctl({"ckpt", "export", from, "--hf", to_}).code, 0);
  const std::string card = text_of(fs::path(to_) / "README.md");
  EXPECT_THAT(card, HasSubstr("| attempts | 1: done 1 |"));
  EXPECT_THAT(card, HasSubstr("| data | pairs.jsonl |"));
  EXPECT_THAT(card, HasSubstr("| learning_rate |"));
  EXPECT_THAT(card, HasSubstr("| 1 | 5.000 |  |"));
  EXPECT_THAT(card, HasSubstr("| 10 | 0.500 | 0.750 |"));
  EXPECT_THAT(card, Not(HasSubstr("| 13 |"))) << "after the checkpoint";
  EXPECT_THAT(card, Not(HasSubstr("schedule")));
}

}  // namespace
}  // namespace trainward::ctl

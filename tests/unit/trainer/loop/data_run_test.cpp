// Runs on JSONL with a tokenizer and on files of tokens: what is resumed must go on with the next
// block, whatever the data is made of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checkpoint/checkpoint.hpp"
#include "fake_trainable.hpp"
#include "trainer/data/tokenize.hpp"
#include "trainer/model/cpu/cpu_model.hpp"
#include "vocabulary.hpp"
#include "worker_bench.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class DataRunTest : public testing::Test {
 protected:
  DataRunTest() {
    write_tokenizer({{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}});
    std::ofstream lines(bench_.folder() / "text.jsonl");
    for (int i = 0; i < 60; ++i) {
      lines << json::serialize(
                   json::object{{"prompt", fmt::format("who is number {}?", i * 37)},
                                {"response", "hello, hell and he; says the crowd of tokens"}})
            << '\n';
    }
    bench_.training()["data"] = json::array{(bench_.folder() / "text.jsonl").string()};
    bench_.training()["tokenizer"] = tokenizer();
  }
  void write_tokenizer(const Merges& merges) {
    std::ofstream(tokenizer()) << json::serialize(tokenizer_json(merges, deepseek_rules()));
  }
  [[nodiscard]] std::string tokenizer() const {
    return (bench_.folder() / "tokenizer.json").string();
  }
  int run() {
    return bench_.run([this](const TrainingSpec& spec) -> Result<std::unique_ptr<Trainable>> {
      vocabulary_ = spec.model.vocabulary;
      if (real_) return make_cpu_model(spec);
      return std::make_unique<FakeTrainable>(record_);
    });
  }
  [[nodiscard]] std::string digest(std::int64_t step) const {
    auto digest = checkpoint::digest(bench_.checkpoint(step));
    return digest ? *digest : digest.error().message();
  }
  // Straight to the end, then once more with a stop in the middle: the same weights.
  void expect_resumed_equals_straight() {
    EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
    const std::string straight = digest(12);
    std::filesystem::remove_all(bench_.checkpoints());
    bench_.requests.stop_at = 5;
    EXPECT_EQ(run(), exit_code::try_again);
    bench_.requests.stop_at = -1;
    bench_.environment.resume_from = bench_.checkpoint(5).string();
    EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
    EXPECT_EQ(bench_.said.all("STEP").front(), "6");
    EXPECT_EQ(digest(12), straight);
  }
  void make_token_file() {
    auto opened = open_tokenizer(tokenizer());
    ASSERT_TRUE(opened) << opened.error().message();
    TokenizeJob job;
    job.paths = {(bench_.folder() / "text.jsonl").string()};
    job.out = bench_.folder() / "text.bin";
    ASSERT_TRUE(tokenize(job, **opened));
    bench_.training()["data"] = json::array{job.out.string()};
    bench_.training().erase("tokenizer");
  }

  WorkerBench bench_;
  FakeRecord record_;
  std::int64_t vocabulary_ = 0;
  bool real_ = false;
};

TEST_F(DataRunTest, AResumedRunOnJsonlEqualsAStraightOne) { expect_resumed_equals_straight(); }

TEST_F(DataRunTest, TheRealModelTakesTheVocabularyOfTheTokenizer) {
  real_ = true;
  expect_resumed_equals_straight();
  EXPECT_EQ(vocabulary_, 261);
}

TEST_F(DataRunTest, AResumedRunOnAFileOfTokensEqualsAStraightOne) {
  make_token_file();
  expect_resumed_equals_straight();
  EXPECT_EQ(vocabulary_, 261);
}

TEST_F(DataRunTest, TextAndItsTokensTrainTheSame) {
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  const std::string text = digest(12);
  std::filesystem::remove_all(bench_.checkpoints());
  make_token_file();
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_EQ(digest(12), text);
}

TEST_F(DataRunTest, AnotherTokenizerIsAnotherConfiguration) {
  bench_.training()["steps"] = 4;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  write_tokenizer({{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"s", "a"}});
  bench_.environment.resume_from = bench_.checkpoint(4).string();
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("belongs to a run with other settings"));
}

TEST_F(DataRunTest, SaysWhichKeyIsTooSmall) {
  bench_.training()["vocabulary"] = 260;
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err,
              HasSubstr("training_config.vocabulary: is 260, and the tokenizer of the data has 261 "
                        "ids (make it 261 or more, or leave it out)"));
  bench_.training()["vocabulary"] = 288;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_EQ(vocabulary_, 288);
}

TEST_F(DataRunTest, BadLinesAreToldAndPutAside) {
  std::ofstream(bench_.folder() / "text.jsonl", std::ios::app) << "broken\n{\"text\": 1}\n";
  EXPECT_EQ(run(), exit_code::done);
  EXPECT_THAT(bench_.said.err, HasSubstr("text.jsonl:61: is not valid JSON"));
  EXPECT_THAT(bench_.said.err, HasSubstr("2 lines in all"));
  EXPECT_TRUE(std::filesystem::exists(bench_.checkpoints() / "bad-lines.jsonl"));
  EXPECT_THAT(bench_.said.all("DATA_LEFT_OUT"), ElementsAre(HasSubstr("left out, the first ")));
  // It does not stand in the way of a later start.
  bench_.environment.resume_from = bench_.checkpoint(12).string();
  EXPECT_EQ(run(), exit_code::done);
}

TEST_F(DataRunTest, NamesWhatIsWrongWithTheTokenizer) {
  std::ofstream(tokenizer()) << "{}";
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("training_config.tokenizer: " + tokenizer() + ": model"));
  write_tokenizer({});
  bench_.training()["end_of_text"] = "<stop>";
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("training_config.end_of_text: no added token is"));
  bench_.training()["data_format"] = "csv";
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("training_config.data_format: is 'csv'"));
}

TEST_F(DataRunTest, RawTokensNeedAVocabulary) {
  std::ofstream(bench_.folder() / "raw.bin", std::ios::binary) << std::string(4000, '\0');
  bench_.training().erase("tokenizer");
  bench_.training()["data"] = json::array{(bench_.folder() / "raw.bin").string()};
  bench_.training()["data_format"] = "u16";
  EXPECT_EQ(run(), exit_code::configuration);
  EXPECT_THAT(bench_.said.err, HasSubstr("training_config.vocabulary: is needed"));
  bench_.training()["vocabulary"] = 50'257;
  EXPECT_EQ(run(), exit_code::done) << bench_.said.err;
  EXPECT_EQ(vocabulary_, 50'257);
}

TEST_F(DataRunTest, AFileThatIsCutWhileTrainingEndsTheAttemptWithTheReason) {
  make_token_file();
  const auto cut = bench_.folder() / "text.bin";
  EXPECT_EQ(bench_.run([&](const TrainingSpec&) -> Result<std::unique_ptr<Trainable>> {
    std::filesystem::resize_file(cut, 300);  // after it was opened
    return std::make_unique<FakeTrainable>(record_);
  }),
            exit_code::failed);
  EXPECT_THAT(bench_.said.err, HasSubstr("while it was in use"));
}

TEST_F(DataRunTest, AStopWhileTheDataIsReadIsAStop) {
  const std::int64_t always = 1;
  bench_.requests.seen = &always;
  bench_.requests.stop_at = 0;
  EXPECT_EQ(run(), exit_code::try_again);
  EXPECT_EQ(record_.made, 0);
}

}  // namespace
}  // namespace trainward::trainer

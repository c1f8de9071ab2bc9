#include "trainer/data/tokenize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scratch_folder.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"
#include "vocabulary.hpp"

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

class TokenizeTest : public testing::Test {
 protected:
  TokenizeTest() {
    // 256 he, 257 ll, 258 hell, 259 hello, 260 end of text
    folder_.write("tokenizer.json",
                  json::serialize(tokenizer_json(
                      {{"h", "e"}, {"l", "l"}, {"he", "ll"}, {"hell", "o"}}, deepseek_rules())));
    tokenizer_ = open_tokenizer(folder_.path("tokenizer.json")).value();
    folder_.write("d/a.txt", "hello, hello");
    folder_.write("d/b.jsonl", "{\"text\": \"hell\"}\nbroken\n{\"text\": \"he 爱\"}\n");
  }
  Result<Corpus> read(const std::string& name, Tokenizer* tokenizer) const {
    const std::vector<std::string> paths{folder_.path(name)};
    CorpusOptions options;
    options.tokenizer = tokenizer;
    return Corpus::read(paths, 2, options);
  }
  static std::vector<TokenId> all(const Corpus& corpus) {
    std::vector<TokenId> tokens(static_cast<std::size_t>(corpus.blocks()) * 2);
    for (std::int64_t i = 0; i < corpus.blocks(); ++i) {
      EXPECT_TRUE(
          corpus.copy_block(i, std::span(tokens).subspan(static_cast<std::size_t>(i) * 2, 2)));
    }
    return tokens;
  }
  [[nodiscard]] TokenizeJob job() const {
    TokenizeJob job;
    job.paths = {folder_.path("d")};
    job.out = folder_.path("out.bin");
    return job;
  }

  const ScratchFolder folder_;
  std::unique_ptr<Tokenizer> tokenizer_;
};

TEST_F(TokenizeTest, TheFileHoldsWhatTheTextWouldHaveGiven) {
  auto summary = tokenize(job(), *tokenizer_);
  ASSERT_TRUE(summary) << summary.error().message();
  EXPECT_EQ(summary->documents, 3);
  EXPECT_EQ(summary->tokens, 4 + 1 + 1 + 1 + 5);
  EXPECT_EQ(summary->bad_lines, 1);
  EXPECT_THAT(summary->first_bad_line, HasSubstr("b.jsonl:2"));
  EXPECT_EQ(summary->width, 2U);
  auto text = read("d", tokenizer_.get());
  auto mapped = read("out.bin", nullptr);
  ASSERT_TRUE(text) << text.error().message();
  ASSERT_TRUE(mapped) << mapped.error().message();
  EXPECT_EQ(text->bad_lines(), 1);
  EXPECT_EQ(all(*text), all(*mapped));
  EXPECT_THAT(all(*text),
              testing::ElementsAre(259, ',', ' ', 259, 260, 258, 260, 256, ' ', 0xE7, 0x88, 0xB1));
  EXPECT_EQ(mapped->tokenizer_digest(), text->tokenizer_digest());
  EXPECT_EQ(mapped->vocabulary(), 261);
}

TEST_F(TokenizeTest, BytesTokenizeToo) {
  ByteTokenizer bytes;
  ASSERT_TRUE(tokenize(job(), bytes));
  auto text = read("d", nullptr);
  auto mapped = read("out.bin", nullptr);
  ASSERT_TRUE(text && mapped);
  EXPECT_EQ(all(*text), all(*mapped));
}

TEST_F(TokenizeTest, AnotherTokenizerIsAnotherCorpus) {
  folder_.write("other.json",
                json::serialize(tokenizer_json({{"h", "e"}, {"l", "l"}}, deepseek_rules())));
  auto other = open_tokenizer(folder_.path("other.json"));
  ASSERT_TRUE(other);
  EXPECT_NE(read("d", tokenizer_.get())->digest(), read("d", other->get())->digest());
  ASSERT_TRUE(tokenize(job(), *tokenizer_));
  auto mismatch = read("out.bin", other->get());
  ASSERT_FALSE(mismatch);
  EXPECT_EQ(mismatch.error().where, "tokenizer");
  EXPECT_TRUE(read("out.bin", tokenizer_.get()));
}

TEST_F(TokenizeTest, NothingIsLeftWhenItIsStopped) {
  TokenizeJob stopped = job();
  stopped.progress = [](std::uint64_t, std::uint64_t) -> Status {
    return fail(ErrorKind::transient, "stopped");
  };
  EXPECT_FALSE(tokenize(stopped, *tokenizer_));
  TokenizeJob empty = job();
  folder_.write("nothing.txt", "");
  empty.paths = {folder_.path("nothing.txt")};
  EXPECT_EQ(tokenize(empty, *tokenizer_).error().kind, ErrorKind::usage);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    EXPECT_THAT(entry.path().filename().string(), testing::Not(HasSubstr("out.bin")));
  }
}

TEST_F(TokenizeTest, ProgressReachesTheEnd) {
  std::uint64_t last = 0;
  std::uint64_t of = 0;
  TokenizeJob watched = job();
  watched.progress = [&](std::uint64_t done, std::uint64_t total) -> Status {
    EXPECT_GE(done, last);
    last = done;
    of = total;
    return {};
  };
  auto summary = tokenize(watched, *tokenizer_);
  ASSERT_TRUE(summary);
  EXPECT_EQ(last, of);
  EXPECT_EQ(summary->bytes, of);
}

TEST_F(TokenizeTest, ACorpusInMemoryIsBounded) {
  const std::vector<std::string> paths{folder_.path("d")};
  CorpusOptions options;
  options.tokenizer = tokenizer_.get();
  options.max_bytes = 14;
  auto corpus = Corpus::read(paths, 2, options);
  ASSERT_FALSE(corpus);
  EXPECT_THAT(corpus.error().message(), HasSubstr("trainward-worker tokenize"));
}

}  // namespace
}  // namespace trainward::trainer

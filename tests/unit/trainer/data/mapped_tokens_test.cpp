#include "trainer/data/mapped_tokens.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/digest.hpp"
#include "scratch_folder.hpp"
#include "trainer/data/corpus.hpp"
#include "trainer/data/token_file_writer.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Element>
std::string raw(const std::vector<Element>& ids) {
  return {reinterpret_cast<const char*>(ids.data()), ids.size() * sizeof(Element)};
}

class MappedTokensTest : public testing::Test {
 protected:
  void write(const std::string& name, const std::vector<std::vector<TokenId>>& documents,
             std::int64_t vocabulary = 1000, const std::string& tokenizer = "t") const {
    TokenHeader header;
    header.vocabulary = vocabulary;
    header.end_of_text = 999;
    header.tokenizer_digest = sha256_hex(tokenizer);
    auto writer = TokenFileWriter::create(folder_.path(name), header);
    ASSERT_TRUE(writer) << writer.error().message();
    for (const auto& document : documents) ASSERT_TRUE(writer->add_document(document));
    ASSERT_TRUE(writer->finish());
  }
  Result<Corpus> read(const std::string& name, DataFormat format = DataFormat::automatic,
                      std::int64_t vocabulary = 0) const {
    const std::vector<std::string> paths{folder_.path(name)};
    CorpusOptions options;
    options.format = format;
    options.vocabulary = vocabulary;
    return Corpus::read(paths, 2, options);
  }
  static std::vector<TokenId> all(const Corpus& corpus) {
    std::vector<TokenId> tokens(static_cast<std::size_t>(corpus.blocks()) * 2);
    for (std::int64_t i = 0; i < corpus.blocks(); ++i) {
      auto ok = corpus.copy_block(i, std::span(tokens).subspan(static_cast<std::size_t>(i) * 2, 2));
      if (!ok) ADD_FAILURE() << ok.error().message();
    }
    return tokens;
  }
  const ScratchFolder folder_;
};

TEST_F(MappedTokensTest, CopiesAcrossFiles) {
  std::filesystem::create_directories(folder_.path("d"));
  write("d/a.bin", {{1, 2}, {3}});
  write("d/b.bin", {{4}});
  write("d/c.bin", {{5, 6, 7}});
  auto corpus = read("d");
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_EQ(corpus->tokens(), 4 + 1 + 1 + 1 + 3);
  EXPECT_EQ(corpus->documents(), 4);
  EXPECT_EQ(corpus->vocabulary(), 1000);
  EXPECT_THAT(all(*corpus), ElementsAre(1, 2, 999, 3, 999, 4, 999, 5, 6, 7));
}

TEST_F(MappedTokensTest, WideVocabulariesTakeFourBytes) {
  write("a.bin", {{70'000, 1, 99'999, 2}}, 100'000);
  auto corpus = read("a.bin");
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_THAT(all(*corpus), ElementsAre(70'000, 1, 99'999, 2));
}

TEST_F(MappedTokensTest, RawFilesAreTakenAsTheyAre) {
  folder_.write("a.bin", raw<std::uint16_t>({1, 65'535, 3, 4}));
  auto corpus = read("a.bin", DataFormat::u16, 65'536);
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_THAT(all(*corpus), ElementsAre(1, 65'535, 3, 4));
  EXPECT_EQ(read("a.bin", DataFormat::u32, 70'000).error().kind, ErrorKind::corrupt);
  auto unknown = read("a.bin", DataFormat::u16);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().where, "vocabulary");
  write("ours.bin", {{1, 2}});
  EXPECT_THAT(read("ours.bin", DataFormat::u16, 9).error().hint, HasSubstr("data_format"));
  folder_.write("odd.bin", "abc");
  EXPECT_THAT(read("odd.bin", DataFormat::u16, 9).error().what,
              HasSubstr("whole number of tokens"));
}

TEST_F(MappedTokensTest, PassesOverTheFirstBytesOfLlmC) {
  std::vector<std::uint32_t> header(256, 0);
  header[0] = 20240520;
  header[1] = 1;
  header[2] = 4;
  folder_.write("a.bin", raw(header) + raw<std::uint16_t>({7, 8, 9, 10}));
  auto corpus = read("a.bin", DataFormat::u16, 50'257);
  ASSERT_TRUE(corpus) << corpus.error().message();
  EXPECT_THAT(all(*corpus), ElementsAre(7, 8, 9, 10));
}

TEST_F(MappedTokensTest, NamesThePositionOfAnIdOutsideTheVocabulary) {
  folder_.write("a.bin", raw<std::uint32_t>({1, 2, 3, 0xFFFFFFFF}));
  auto corpus = read("a.bin", DataFormat::u32, 100);
  ASSERT_FALSE(corpus);
  EXPECT_EQ(corpus.error().where, folder_.path("a.bin"));
  EXPECT_THAT(corpus.error().what, HasSubstr("at position 3 is outside the vocabulary of 100"));
}

TEST_F(MappedTokensTest, DamageShowsWhenItIsReadOrVerified) {
  write("a.bin", {{1, 2, 3, 4}});
  auto corpus = read("a.bin");
  ASSERT_TRUE(corpus);
  std::fstream file(folder_.path("a.bin"), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(token_header_bytes) + 5);
  file.put('\x77');  // token 2 is 0x7703 now
  file.close();
  std::vector<TokenId> block(2);
  EXPECT_TRUE(corpus->copy_block(0, block));
  auto damaged = corpus->copy_block(1, block);
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().what, HasSubstr("position 2"));
  const std::vector<std::string> paths{folder_.path("a.bin")};
  auto data = find_data(paths, DataFormat::automatic);
  ASSERT_TRUE(data);
  auto tokens = MappedTokens::open(*data, DataFormat::automatic, {});
  ASSERT_TRUE(tokens);
  EXPECT_FALSE((*tokens)->verify());
}

TEST_F(MappedTokensTest, AFileCutWhileInUseIsSaidToBeCut) {
  write("a.bin", {{1, 2, 3, 4}});
  auto corpus = read("a.bin");
  ASSERT_TRUE(corpus);
  std::filesystem::resize_file(folder_.path("a.bin"), 10);
  std::vector<TokenId> block(2);
  auto cut = corpus->copy_block(1, block);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::permanent);
  EXPECT_THAT(cut.error().what, HasSubstr("was cut from 264 to 10 bytes"));
}

TEST_F(MappedTokensTest, FilesMustGoTogether) {
  std::filesystem::create_directories(folder_.path("d"));
  write("d/a.bin", {{1, 2}});
  write("d/b.bin", {{1, 2}}, 1000, "another");
  EXPECT_THAT(read("d").error().what, HasSubstr("another tokenizer than"));
  std::filesystem::remove(folder_.path("d/b.bin"));
  folder_.write("d/b.txt", "text");
  auto mixed = read("d");
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().kind, ErrorKind::usage);
  EXPECT_EQ(mixed.error().where, folder_.path("d/b.txt"));
}

TEST_F(MappedTokensTest, TheDigestTellsTokensAndTokenizer) {
  write("a.bin", {{1, 2}});
  write("b.bin", {{1, 3}});
  write("c.bin", {{1, 2}}, 1000, "another");
  write("same.bin", {{1, 2}});
  const std::string a = read("a.bin")->digest();
  EXPECT_EQ(a, read("same.bin")->digest());
  EXPECT_NE(a, read("b.bin")->digest());
  EXPECT_NE(a, read("c.bin")->digest());
}

}  // namespace
}  // namespace trainward::trainer

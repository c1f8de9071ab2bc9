#include "trainer/data/token_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"
#include "scratch_folder.hpp"
#include "trainer/data/token_file_writer.hpp"

namespace trainward::trainer {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TokenHeader sample() { return {2, 5, 2, 300, 299, sha256_hex("tokenizer"), sha256_hex("tokens")}; }

std::uint64_t size_for(const TokenHeader& header) {
  return token_header_bytes + header.tokens * header.width;
}

std::string refusal(const TokenHeader& header, std::uint64_t size) {
  auto parsed = parse_token_header(encode(header), size);
  return parsed ? "accepted" : parsed.error().message();
}

TEST(TokenHeaderTest, IsReadAsItWasWritten) {
  const std::string bytes = encode(sample());
  EXPECT_EQ(bytes.size(), token_header_bytes);
  auto parsed = parse_token_header(bytes, size_for(sample()));
  ASSERT_TRUE(parsed) << parsed.error().message();
  EXPECT_EQ(*parsed, sample());
}

TEST(TokenHeaderTest, IsRefusedWhenCutAnywhere) {
  const std::string bytes = encode(sample());
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_token_header(std::string_view(bytes).substr(0, size), size)) << size;
    EXPECT_FALSE(parse_token_header(bytes, size)) << size;
  }
}

TEST(TokenHeaderTest, IsRefusedWhenAnyBitIsTurned) {
  const std::string bytes = encode(sample());
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    ASSERT_FALSE(parse_token_header(damaged, size_for(sample()))) << "bit " << bit;
  }
}

TEST(TokenHeaderTest, MustFitTheFileAndItself) {
  const auto with = [](const std::function<void(TokenHeader&)>& change) {
    TokenHeader header = sample();
    change(header);
    return refusal(header, size_for(header));
  };
  EXPECT_THAT(refusal(sample(), size_for(sample()) - 1), HasSubstr("does not fit 5 tokens"));
  EXPECT_THAT(refusal(sample(), size_for(sample()) + 2), HasSubstr("does not fit 5 tokens"));
  EXPECT_THAT(with([](auto& h) { h.width = 3; }), HasSubstr("3 bytes a token"));
  EXPECT_THAT(with([](auto& h) { h.vocabulary = 65'537; }), HasSubstr("vocabulary of 65537"));
  EXPECT_THAT(with([](auto& h) { h.vocabulary = 0; }), HasSubstr("vocabulary of 0"));
  EXPECT_THAT(with([](auto& h) { h.end_of_text = 300; }), HasSubstr("token 300 of 300"));
  EXPECT_THAT(with([](auto& h) { h.documents = 6; }), HasSubstr("6 documents in 5 tokens"));
  EXPECT_THAT(with([](auto& h) { h.tokenizer_digest[3] = 'G'; }), HasSubstr("digest"));
  TokenHeader huge = sample();
  huge.tokens = (std::uint64_t{1} << 63U) + 5;  // times two it overflows to the right size
  EXPECT_THAT(refusal(huge, size_for(sample())), HasSubstr("does not fit"));
}

TEST(TokenHeaderTest, OfAnotherVersionSaysSo) {
  std::string bytes = encode(sample());
  bytes[8] = 2;
  auto parsed = parse_token_header(bytes, size_for(sample()));
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind, ErrorKind::usage);
  EXPECT_THAT(parsed.error().what, HasSubstr("version 2"));
}

class TokenFileWriterTest : public testing::Test {
 protected:
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  const ScratchFolder folder_;
};

TEST_F(TokenFileWriterTest, WritesDocumentsWithEndOfTextBetweenThem) {
  auto writer = TokenFileWriter::create(folder_.path("a.bin"), sample());
  ASSERT_TRUE(writer);
  const std::vector<TokenId> one{1, 258};
  const std::vector<TokenId> two{3};
  ASSERT_TRUE(writer->add_document(one) && writer->add_document(two) && writer->finish());
  const std::string bytes = read_file(folder_.path("a.bin"), 1000).value();
  auto header = parse_token_header(bytes, bytes.size());
  ASSERT_TRUE(header) << header.error().message();
  EXPECT_EQ(header->tokens, 4U);
  EXPECT_EQ(header->documents, 2U);
  const std::string tokens = bytes.substr(token_header_bytes);
  EXPECT_EQ(tokens, std::string("\x01\x00\x02\x01\x2B\x01\x03\x00", 8));
  EXPECT_EQ(header->token_digest, sha256_hex(tokens));
  EXPECT_THAT(files(), testing::ElementsAre("a.bin"));
}

TEST_F(TokenFileWriterTest, LeavesNothingUnlessItIsFinished) {
  {
    auto writer = TokenFileWriter::create(folder_.path("a.bin"), sample());
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writer->add_document(std::vector<TokenId>{1}));
    EXPECT_EQ(files().size(), 1U);
    auto outside = writer->add_document(std::vector<TokenId>{300});
    ASSERT_FALSE(outside);
    EXPECT_THAT(outside.error().what, HasSubstr("outside the vocabulary of 300"));
  }
  EXPECT_THAT(files(), IsEmpty());
}

TEST_F(TokenFileWriterTest, NeverReplacesAFile) {
  auto late = TokenFileWriter::create(folder_.path("a.bin"), sample());
  ASSERT_TRUE(late);
  ASSERT_TRUE(late->add_document(std::vector<TokenId>{1}));
  folder_.write("a.bin", "mine");
  EXPECT_THAT(late->finish().error().what, HasSubstr("is there already"));
  EXPECT_THAT(TokenFileWriter::create(folder_.path("a.bin"), sample()).error().what,
              HasSubstr("is there already"));
  EXPECT_EQ(read_file(folder_.path("a.bin"), 10).value(), "mine");
}

}  // namespace
}  // namespace trainward::trainer

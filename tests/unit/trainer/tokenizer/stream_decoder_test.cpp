#include "trainer/tokenizer/stream_decoder.hpp"

#include <gtest/gtest.h>

#include <random>

#include "common/base/utf8.hpp"
#include "llama_vocabulary.hpp"
#include "made_tokenizer.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

std::string put(StreamDecoder& decoder, TokenId id) {
  auto text = decoder.put(id);
  EXPECT_TRUE(text) << text.error().message();
  return text.value_or("");
}

TEST(StreamDecoderTest, HoldsBackWhatIsNoWholeCharacter) {
  const ByteTokenizer bytes;
  StreamDecoder decoder(bytes);
  EXPECT_EQ(put(decoder, 'a'), "a");
  EXPECT_EQ(put(decoder, 0xF0), "");
  EXPECT_EQ(put(decoder, 0x9F), "");
  EXPECT_EQ(put(decoder, 0x98), "");
  EXPECT_EQ(put(decoder, 0x80), "\U0001F600");
  EXPECT_EQ(put(decoder, 0xE4), "");
  EXPECT_EQ(put(decoder, 'b'),
            "\uFFFD"
            "b")
      << "nothing can complete it now";
  EXPECT_EQ(put(decoder, 0xFF), "\uFFFD");
  EXPECT_EQ(put(decoder, 0xE4), "");
  EXPECT_EQ(put(decoder, 0xB8), "");
  EXPECT_EQ(decoder.finish(), "\uFFFD\uFFFD");
  EXPECT_EQ(decoder.finish(), "");
}

TEST(StreamDecoderTest, OnlyTheFirstSpaceOfTheTextGoesAway) {
  const auto tokenizer = made_of(llama_json());
  StreamDecoder text(*tokenizer, {.special = false});
  EXPECT_EQ(put(text, 1), "") << "left out, and not the beginning yet";
  EXPECT_EQ(put(text, 269), "hello");
  EXPECT_EQ(put(text, 269), " hello");
  StreamDecoder space(*tokenizer);
  EXPECT_EQ(put(space, 275), "") << "the one space, taken away";
  EXPECT_EQ(put(space, 269), " hello");
  StreamDecoder response(*tokenizer, {.begins = false});
  EXPECT_EQ(put(response, 269), " hello");
  EXPECT_FALSE(response.put(291));
  EXPECT_EQ(put(response, 268), "hello") << "goes on after an error";
}

TEST(StreamDecoderTest, GivesWhatAllTokensTogetherGive) {
  std::mt19937_64 random(5);
  const ByteTokenizer bytes;
  const auto llama = made_of(llama_json());
  const std::vector<const Tokenizer*> tokenizers{&bytes, llama.get()};
  for (int round = 0; round < 4000; ++round) {
    const Tokenizer& tokenizer = *tokenizers[round % 2];
    const DecodeOptions options{random() % 2 == 0, random() % 2 == 0};
    StreamDecoder decoder(tokenizer, options);
    Tokens ids;
    std::string shown;
    for (auto count = random() % 30; count > 0; --count) {
      // Bytes that begin and go on with characters, so that some become whole.
      const auto byte =
          static_cast<TokenId>(random() % 2 == 0 ? 0x80 + random() % 128 : random() % 256);
      ids.push_back(round % 2 == 0
                        ? byte
                        : static_cast<TokenId>(random() % 3 == 0 ? random() % 291 : 3 + byte));
      const std::string text = put(decoder, ids.back());
      ASSERT_TRUE(is_utf8(text));
      shown += text;
    }
    shown += decoder.finish();
    ASSERT_EQ(shown, valid_utf8(tokenizer.decode(ids, options).value()));
  }
}

}  // namespace
}  // namespace trainward::trainer

#include "trainer/tokenizer/bpe/bpe_tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <random>

#include "made_tokenizer.hpp"
#include "trainer/tokenizer/byte_tokenizer.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// 256 he, 257 ll, 258 hell, 259 hello, 260 " w", 261 or, 262 " wor", 263 "'s", 264 "12"
const Merges words{{"h", "e"}, {"l", "l"},   {"he", "ll"}, {"hell", "o"}, {" ", "w"},
                   {"o", "r"}, {" w", "or"}, {"'", "s"},   {"1", "2"}};

TEST(BpeTokenizerTest, EncodesByTheMergesInTheirOrder) {
  const auto tokenizer = made_of(tokenizer_json(words, byte_level(false, true)));
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->vocabulary(), 266);
  EXPECT_EQ(tokenizer->end_of_text(), 265);
  EXPECT_THAT(encode(*tokenizer, "hello world"), ElementsAre(259, 262, 'l', 'd'));
  EXPECT_THAT(encode(*tokenizer, "hell's"), ElementsAre(258, 263));
  EXPECT_THAT(encode(*tokenizer, "helo"), ElementsAre(256, 'l', 'o'));
  // No merge crosses from one piece to the next: "1 2" is two.
  EXPECT_THAT(encode(*tokenizer, "12 1"), ElementsAre(264, ' ', '1'));
  EXPECT_THAT(encode(*tokenizer, ""), ElementsAre());
}

TEST(BpeTokenizerTest, MergesMayBeLists) {
  json::object file = tokenizer_json(words, byte_level(false, true));
  json::array lists;
  for (const auto& [left, right] : words) {
    lists.push_back(json::array{token_of_bytes(left), token_of_bytes(right)});
  }
  const auto plain = made_of(file);
  file["model"].as_object()["merges"] = lists;
  const auto tokenizer = made_of(file);
  ASSERT_TRUE(plain && tokenizer);
  EXPECT_THAT(encode(*tokenizer, "hello world"), ElementsAre(259, 262, 'l', 'd'));
  EXPECT_EQ(plain->digest(), tokenizer->digest()) << "another way to write the same";
}

TEST(BpeTokenizerTest, DeepSeekRules) {
  // 256 to 259: "20", "202", the first two bytes of 爱, all of it; 260 ".b", 261 "\n\n"
  const auto tokenizer = made_of(tokenizer_json(
      {{"2", "0"}, {"20", "2"}, {"\xE7", "\x88"}, {"\xE7\x88", "\xB1"}, {".", "b"}, {"\n", "\n"}},
      deepseek_rules()));
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "2020"), ElementsAre(257, '0'));
  EXPECT_THAT(encode(*tokenizer, "1202"), ElementsAre('1', 256, '2')) << "120 and 2";
  EXPECT_THAT(encode(*tokenizer, "a爱b"), ElementsAre('a', 259, 'b'));
  EXPECT_THAT(encode(*tokenizer, "a.b\n\n"), ElementsAre('a', 260, 261));
}

TEST(BpeTokenizerTest, WholePiecesWithIgnoreMerges) {
  json::object file = tokenizer_json({{"h", "e"}}, byte_level(false, true));
  file["model"].as_object()["vocab"].as_object()["helo"] = 300;
  const auto merged = made_of(file);
  ASSERT_TRUE(merged);
  EXPECT_THAT(encode(*merged, "helo"), ElementsAre(256, 'l', 'o'));
  file["model"].as_object()["ignore_merges"] = true;
  const auto whole = made_of(file);
  ASSERT_TRUE(whole);
  EXPECT_THAT(encode(*whole, "helo helo"), ElementsAre(300, ' ', 256, 'l', 'o'));
  EXPECT_NE(whole->digest(), merged->digest());
}

TEST(BpeTokenizerTest, AddedTokensComeBeforeEverythingElse) {
  json::object file = tokenizer_json(words, byte_level(false, true));
  auto& list = file["added_tokens"].as_array();
  list.push_back(added(270, "<｜end▁of▁sentence｜>"));
  list.push_back(added(271, "<x>"));
  list.push_back(added(272, "<x><y>"));
  json::object late = added(273, "ello");
  late["normalized"] = true;
  late["special"] = false;
  list.push_back(late);
  list.push_back(added(274, "<x>h"));
  json::object eager = added(275, "<s>");
  eager["lstrip"] = eager["rstrip"] = true;
  list.push_back(eager);
  const auto tokenizer = made_of(file, "<｜end▁of▁sentence｜>");
  ASSERT_TRUE(tokenizer);
  EXPECT_EQ(tokenizer->end_of_text(), 270);
  EXPECT_EQ(tokenizer->vocabulary(), 276);
  EXPECT_THAT(encode(*tokenizer, "he<｜end▁of▁sentence｜>he"), ElementsAre(256, 270, 256));
  EXPECT_THAT(encode(*tokenizer, "<x><x><y><y>"), ElementsAre(271, 272, '<', 'y', '>'));
  EXPECT_THAT(encode(*tokenizer, "<x>hello"), ElementsAre(274, 273)) << "the others first";
  EXPECT_THAT(encode(*tokenizer, "a \n<s>  b"), ElementsAre('a', 275, 'b'));
  EXPECT_EQ(tokenizer->decode(Tokens{256, 270, 271}).value(), "he<｜end▁of▁sentence｜><x>");
}

TEST(BpeTokenizerTest, PrefixSpaceBeforeEveryPartOfTheText) {
  const auto tokenizer = made_of(tokenizer_json(words, byte_level(true, true)));
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "wor<|endoftext|>wor"), ElementsAre(262, 265, 262));
}

TEST(BpeTokenizerTest, BytesThatAreNoTextArePiecesOfTheirOwn) {
  const auto tokenizer =
      made_of(tokenizer_json({{"\xFF", "\xFE"}, {"\xFE", "a"}}, byte_level(false, true)));
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer,
                     "a\xFF\xFE"
                     "a"),
              ElementsAre('a', 256, 'a'));
  EXPECT_THAT(encode(*tokenizer, "\xE4\xB8"), ElementsAre(0xE4, 0xB8));
}

TEST(BpeTokenizerTest, WhatWasEncodedDecodesToTheSameBytes) {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  const std::vector<std::string> bits{"hello",
                                      " ",
                                      "\n",
                                      "world",
                                      "'s",
                                      "12",
                                      "爱",
                                      "é",
                                      "\xFF",
                                      "\xE4",
                                      std::string(1, 0),
                                      "<|endoftext|>",
                                      "\u3000",
                                      "."};
  for (const json::object& rules : {byte_level(false, true), deepseek_rules()}) {
    const auto tokenizer = made_of(tokenizer_json(words, rules));
    ASSERT_TRUE(tokenizer);
    for (int round = 0; round < 2000; ++round) {
      std::string text;
      for (auto parts = random() % 40; parts > 0; --parts) {
        text += random() % 4 == 0 ? std::string(1, static_cast<char>(random() % 256))
                                  : bits[random() % bits.size()];
      }
      const Tokens tokens = encode(*tokenizer, text);
      ASSERT_EQ(tokenizer->decode(tokens).value(), text) << "round " << round;
      // The cache knows most pieces now: nothing changes.
      ASSERT_EQ(encode(*tokenizer, text), tokens);
    }
  }
}

TEST(BpeTokenizerTest, AByteWithoutATokenIsAnErrorAndLeavesNothing) {
  json::object file = tokenizer_json({}, byte_level(false, true));
  file["model"].as_object()["vocab"].as_object().erase("z");
  const auto tokenizer = made_of(file);
  ASSERT_TRUE(tokenizer);
  Tokens out{7};
  const auto ok = tokenizer->encode("a b z", out);
  ASSERT_FALSE(ok);
  EXPECT_EQ(ok.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(ok.error().what, HasSubstr("0x7A"));
  EXPECT_EQ(out, Tokens{7});
}

TEST(BpeTokenizerTest, AskedForTheEndOfTextWhenItCannotBeKnown) {
  json::object file = tokenizer_json({}, byte_level(false, true));
  file["added_tokens"] = json::array{added(256, "<stop>")};
  auto parsed = parse_tokenizer(json::serialize(file));
  ASSERT_TRUE(parsed);
  auto unknown = BpeTokenizer::make(*parsed, "test");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().where, "end_of_text");
  auto wrong = BpeTokenizer::make(*parsed, "test", "<end>");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("'<end>'"));
  auto right = BpeTokenizer::make(*parsed, "test", "<stop>");
  ASSERT_TRUE(right);
  EXPECT_EQ((*right)->end_of_text(), 256);
}

TEST(BpeTokenizerTest, RefusesIdsThatNoTokenHas) {
  const auto tokenizer = made_of(tokenizer_json(words, byte_level(false, true)));
  ASSERT_TRUE(tokenizer);
  for (const TokenId id : {-1, 266, 1 << 30}) EXPECT_FALSE(tokenizer->decode(Tokens{id}));
}

// Runs that were begun with an older version go on only where these stay what they were.
TEST(BpeTokenizerTest, DigestsDoNotChangeFromVersionToVersion) {
  json::object file = tokenizer_json(words, byte_level(true, true));
  const auto plain = made_of(file);
  json::object late = added(300, "late");
  late["normalized"] = true;
  late["lstrip"] = true;
  file["added_tokens"].as_array().push_back(late);
  file["normalizer"] = normalizers({"NFC", "Lowercase"});
  file["pre_tokenizer"] = deepseek_rules();
  file["model"].as_object()["ignore_merges"] = true;
  const auto full = made_of(file);
  ASSERT_TRUE(plain && full);
  EXPECT_EQ(plain->digest(), "2a25b5f316d000863172fea6fa099a9c909426a2bd0f352114d1f5964cd5d651");
  EXPECT_EQ(full->digest(), "b0e668c428369435b53d362bc9a185a27c0388d3cd08c9c8b3e7e6634a153506");
}

TEST(ByteTokenizerTest, ATokenAByte) {
  ByteTokenizer tokenizer;
  EXPECT_THAT(encode(tokenizer, "a\xFF"), ElementsAre('a', 255));
  EXPECT_EQ(tokenizer.decode(Tokens{'a', 256, 255}).value(), "a\xFF");
  EXPECT_FALSE(tokenizer.decode(Tokens{257}));
  EXPECT_EQ(tokenizer.vocabulary(), 257);
}

TEST(OpenTokenizerTest, NamesTheFile) {
  auto missing = open_tokenizer("/nonexistent/tokenizer.json");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().where, "/nonexistent/tokenizer.json");
  EXPECT_TRUE(open_tokenizer("byte"));
  EXPECT_FALSE(open_tokenizer("byte", "<end>"));
}

}  // namespace
}  // namespace trainward::trainer

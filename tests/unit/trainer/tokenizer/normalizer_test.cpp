// A tokenizer that normalises: in what order, and what it leaves alone.
#include "trainer/tokenizer/text/normalizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_tokenizer.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;

std::string normalized(std::vector<NormalizerStep> steps, std::string_view text) {
  std::string storage;
  return std::string(Normalizer(std::move(steps)).apply(text, storage));
}

TEST(Normalizer, StepsFollowEachOther) {
  using enum CharacterStep;
  EXPECT_EQ(normalized({}, "E\u0301"), "E\u0301");
  EXPECT_EQ(normalized({lowercase}, "\u00C4B\u0130\u03A3 1\u01C5"), "\u00E4bi\u0307\u03C3 1\u01C6");
  EXPECT_EQ(normalized({nfd, lowercase}, "\u00C9"), "e\u0301");
  EXPECT_EQ(normalized({nfkc, lowercase}, "\uFF25\u0301"), "\u00E9");
  EXPECT_EQ(normalized({nfd, nfc, nfd}, "\u212B!"), "A\u030A!");
  EXPECT_EQ(normalized({nfc, lowercase, nfd}, "plain"), "plain");
}

TEST(Normalizer, PutsInFrontAndReplaces) {
  const Prepend mark{"_"};
  const Replace space{" ", "_"};
  EXPECT_EQ(normalized({mark, space}, "a b  c"), "_a_b__c");
  EXPECT_EQ(normalized({mark}, ""), "") << "nothing to put it in front of";
  EXPECT_EQ(normalized({Replace{"aa", "b"}}, "aaaaa"), "bba");
  EXPECT_EQ(normalized({Replace{"a", ""}}, "banana"), "bnn");
  EXPECT_EQ(normalized({space, Replace{"_", " "}}, "a b"), "a b");
  std::string storage;
  EXPECT_EQ(Normalizer({mark, space}).apply("a b", storage, false), "a_b");
}

// 256, 257: é composed, and the same letter in two characters.
json::object file_with(json::value normalizer) {
  json::object file = tokenizer_json({{"\xC3", "\xA9"}, {"\xCC", "\x81"}}, byte_level(false, true));
  file["normalizer"] = std::move(normalizer);
  return file;
}

TEST(BpeNormalizer, TextIsNormalisedBeforeItIsCut) {
  const auto plain = made_of(file_with(nullptr));
  const auto composed = made_of(file_with(json::object{{"type", "NFC"}}));
  const auto decomposed = made_of(file_with(normalizers({"NFD"})));
  ASSERT_TRUE(plain && composed && decomposed);
  for (const char* text : {"caf\u00E9", "cafe\u0301"}) {
    EXPECT_THAT(encode(*composed, text), ElementsAre('c', 'a', 'f', 256)) << text;
    EXPECT_THAT(encode(*decomposed, text), ElementsAre('c', 'a', 'f', 'e', 257)) << text;
  }
  EXPECT_THAT(encode(*plain, "e\u0301"), ElementsAre('e', 257));
  EXPECT_EQ(composed->decode(encode(*composed, "e\u0301")).value(), "\u00E9");
}

// Hugging Face's order: those that are not `normalized` in the text as it is, then the normalizer,
// then the others, each in its own normal form.
TEST(BpeNormalizer, AddedTokensAreFoundBeforeOrAfterAsTheyAsk) {
  json::object file = file_with(json::object{{"type", "NFC"}});
  json::object late = added(301, "Ste\u0301phane");
  late["normalized"] = true;
  file["added_tokens"].as_array().push_back(added(300, "e\u0301!"));
  file["added_tokens"].as_array().push_back(late);
  const auto tokenizer = made_of(file);
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "e\u0301!"), ElementsAre(300));
  EXPECT_THAT(encode(*tokenizer, "\u00E9!"), ElementsAre(256, '!')) << "not as it is written";
  EXPECT_THAT(encode(*tokenizer, "St\u00E9phane"), ElementsAre(301));
  EXPECT_THAT(encode(*tokenizer, "Ste\u0301phane"), ElementsAre(301));
  // What a token parts is not put together.
  EXPECT_THAT(encode(*tokenizer, "e<|endoftext|>\u0301"), ElementsAre('e', 258, 257));
  EXPECT_EQ(tokenizer->decode(Tokens{301}).value(), "Ste\u0301phane");
}

TEST(BpeNormalizer, BytesThatAreNoTextStayAsTheyAre) {
  const auto tokenizer = made_of(file_with(json::object{{"type", "NFC"}}));
  ASSERT_TRUE(tokenizer);
  EXPECT_THAT(encode(*tokenizer, "e\xFF\u0301\xE4\xB8"), ElementsAre('e', 0xFF, 257, 0xE4, 0xB8));
  EXPECT_THAT(encode(*tokenizer, "\xC3\u00E9"), ElementsAre(0xC3, 256));
}

TEST(BpeNormalizer, AMebibyteOfMarks) {
  const auto tokenizer = made_of(file_with(json::object{{"type", "NFC"}}));
  ASSERT_TRUE(tokenizer);
  constexpr std::size_t pairs = std::size_t{1} << 18U;
  std::string text = "e";
  for (std::size_t i = 0; i < pairs; ++i) text += "\u0301\u0327";
  std::uint64_t told = 0;
  Tokens out;
  ASSERT_TRUE(tokenizer->encode_watched(text, out, [&](std::uint64_t bytes) {
    told = bytes;
    return Status();
  }));
  EXPECT_LE(told, text.size());
  // The cedilla goes before the accents, so it is what the e takes.
  EXPECT_EQ(tokenizer->decode(std::span(out).first(2)).value(), "\u0229");
}

TEST(BpeNormalizer, OnlyANormalizerChangesTheDigest) {
  const auto digest = [](json::value normalizer) {
    return made_of(file_with(std::move(normalizer)))->digest();
  };
  const std::string plain = digest(nullptr);
  EXPECT_EQ(digest(normalizers({})), plain);
  EXPECT_NE(digest(json::object{{"type", "NFC"}}), plain);
  EXPECT_EQ(digest(json::object{{"type", "NFC"}}), digest(normalizers({"NFC"})));
  EXPECT_NE(digest(normalizers({"NFC", "Lowercase"})), digest(normalizers({"Lowercase", "NFC"})));
}

}  // namespace
}  // namespace trainward::trainer

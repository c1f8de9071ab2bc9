#include "trainer/tokenizer/text/pre_tokenizer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trainer/tokenizer/file/tokenizer_file.hpp"
#include "vocabulary.hpp"

namespace trainward::trainer {
namespace {

using testing::ElementsAre;

std::vector<std::string> pieces(const std::vector<PreTokenizerRule>& rules, std::string_view text,
                                Place place = Place::beginning) {
  auto pre_tokenizer = PreTokenizer::compile(rules);
  EXPECT_TRUE(pre_tokenizer) << pre_tokenizer.error().message();
  std::vector<std::string> found;
  if (!pre_tokenizer) return found;
  auto ok = pre_tokenizer->split(text, place, [&](std::string_view piece) -> Status {
    found.emplace_back(piece);
    return {};
  });
  EXPECT_TRUE(ok) << ok.error().message();
  return found;
}

std::vector<std::string> gpt2(std::string_view text) {
  return pieces({SplitRule{std::string(gpt2_pattern)}}, text);
}

std::vector<std::string> deepseek(std::string_view text) {
  TokenizerFile file;
  const auto ok = read_pre_tokenizer(deepseek_rules(), file);
  EXPECT_TRUE(ok) << ok.error().message();
  return pieces(file.rules, text);
}

TEST(Gpt2SplitTest, WordsContractionsAndNumbers) {
  EXPECT_THAT(gpt2("Hello world"), ElementsAre("Hello", " world"));
  EXPECT_THAT(
      gpt2("I'm sure they'll say we've DON'T"),
      ElementsAre("I", "'m", " sure", " they", "'ll", " say", " we", "'ve", " DON", "'", "T"));
  EXPECT_THAT(gpt2("it's 12345 o'clock"), ElementsAre("it", "'s", " 12345", " o", "'", "clock"));
  EXPECT_THAT(gpt2("price: $5.00!"), ElementsAre("price", ":", " $", "5", ".", "00", "!"));
}

TEST(Gpt2SplitTest, ARunOfSpacesLeavesItsLastToTheNextWord) {
  EXPECT_THAT(gpt2("a   b"), ElementsAre("a", "  ", " b"));
  EXPECT_THAT(gpt2("a \n b"), ElementsAre("a", " \n", " b"));
  EXPECT_THAT(gpt2("a\n\nb"), ElementsAre("a", "\n", "\n", "b"));
  EXPECT_THAT(gpt2("a  "), ElementsAre("a", "  "));
  EXPECT_THAT(gpt2("\t\tx"), ElementsAre("\t", "\t", "x"));
}

TEST(Gpt2SplitTest, OtherScripts) {
  EXPECT_THAT(gpt2("Привет, 世界!"), ElementsAre("Привет", ",", " 世界", "!"));
  EXPECT_THAT(gpt2("e\u0301x"), ElementsAre("e", "\u0301", "x")) << "a mark is no letter";
}

TEST(DeepSeekSplitTest, DigitsInGroupsOfThreeFromTheLeft) {
  EXPECT_THAT(deepseek("1234567"), ElementsAre("123", "456", "7"));
  EXPECT_THAT(deepseek("in 2024."), ElementsAre("in", " ", "202", "4", "."));
}

TEST(DeepSeekSplitTest, ChineseAndJapaneseStandAlone) {
  EXPECT_THAT(deepseek("我爱 Rust 和C"), ElementsAre("我爱", " Rust", " ", "和", "C"));
  EXPECT_THAT(deepseek("カタカナとひらがな abc"), ElementsAre("カタカナとひらがな", " abc"));
}

TEST(DeepSeekSplitTest, PunctuationTakesTheLettersAfterIt) {
  EXPECT_THAT(deepseek("don't (really)"), ElementsAre("don", "'t", " (", "really", ")"));
  EXPECT_THAT(deepseek("a.b_c"), ElementsAre("a", ".b", "_c"));
  EXPECT_THAT(deepseek("x == y"), ElementsAre("x", " ==", " y"));
  EXPECT_THAT(deepseek("e\u0301x"), ElementsAre("e\u0301x")) << "marks belong to words";
}

TEST(DeepSeekSplitTest, LinesAndSpaces) {
  EXPECT_THAT(deepseek("end;\r\n\r\n  next"), ElementsAre("end", ";\r\n\r\n", " ", " next"));
  EXPECT_THAT(deepseek("a \n\n b"), ElementsAre("a", " \n\n", " b"));
  EXPECT_THAT(deepseek("a    b   "), ElementsAre("a", "   ", " b", "   "));
}

TEST(SplitBehaviorTest, EachDoesWhatItsNameSays) {
  const auto with = [](SplitBehavior behavior, bool invert = false) {
    return pieces({SplitRule{"-", true, behavior, invert}}, "the-final--countdown-");
  };
  EXPECT_THAT(with(SplitBehavior::removed), ElementsAre("the", "final", "countdown"));
  EXPECT_THAT(with(SplitBehavior::isolated),
              ElementsAre("the", "-", "final", "-", "-", "countdown", "-"));
  EXPECT_THAT(with(SplitBehavior::merged_with_previous),
              ElementsAre("the-", "final-", "-", "countdown-"));
  EXPECT_THAT(with(SplitBehavior::merged_with_next),
              ElementsAre("the", "-final", "-", "-countdown", "-"));
  EXPECT_THAT(with(SplitBehavior::contiguous),
              ElementsAre("the", "-", "final", "--", "countdown", "-"));
  EXPECT_THAT(with(SplitBehavior::removed, true), ElementsAre("-", "-", "-", "-"));
  EXPECT_THAT(with(SplitBehavior::contiguous, true),
              ElementsAre("the", "-", "final", "--", "countdown", "-"));
}

TEST(SplitBehaviorTest, AMatchOfNothingPartsWhatIsAroundIt) {
  EXPECT_THAT(pieces({SplitRule{R"((?=\p{Lu}))"}}, "aBcÄd"), ElementsAre("a", "Bc", "Äd"));
  EXPECT_THAT(pieces({SplitRule{"x*"}}, "ab"), ElementsAre("a", "b"));
}

TEST(PreTokenizerTest, ARuleSeesOnlyItsPiece) {
  // The second rule may look no further than the first one's pieces go.
  const std::vector<PreTokenizerRule> rules{SplitRule{"b", true}, SplitRule{R"(\s+(?!\S))"}};
  EXPECT_THAT(pieces(rules, "a  b"), ElementsAre("a", "  ", "b"));
}

TEST(PreTokenizerTest, ASpaceComesBeforePiecesWithoutOne) {
  const std::vector<PreTokenizerRule> rules{PrefixSpace{}, SplitRule{std::string(gpt2_pattern)}};
  EXPECT_THAT(pieces(rules, "Hello you"), ElementsAre(" Hello", " you"));
  EXPECT_THAT(pieces(rules, " Hello"), ElementsAre(" Hello"));
}

TEST(PreTokenizerTest, NothingIsPutBeforeATextThatGoesOn) {
  const std::vector<PreTokenizerRule> rules{PrefixSpace{}, SplitRule{std::string(gpt2_pattern)}};
  EXPECT_THAT(pieces(rules, "Hello you", Place::within), ElementsAre("Hello", " you"));
  EXPECT_THAT(pieces(rules, "Hello", Place::after_token), ElementsAre(" Hello"));
  // A piece from the middle counts as it does elsewhere.
  const std::vector<PreTokenizerRule> late{SplitRule{"-"}, PrefixSpace{}};
  EXPECT_THAT(pieces(late, "a-b", Place::within), ElementsAre("a", " -", " b"));
}

TEST(PreTokenizerTest, MetaspaceCutsBeforeEverySpace) {
  const std::vector<PreTokenizerRule> rules{Metaspace{}};
  EXPECT_THAT(pieces(rules, "a  b "), ElementsAre("▁a", "▁", "▁b", "▁"));
  EXPECT_THAT(pieces(rules, "▁a"), ElementsAre("▁a"));
  EXPECT_THAT(pieces(rules, "a b", Place::within), ElementsAre("a", "▁b"));
  const std::vector<PreTokenizerRule> after_split{SplitRule{"-"},
                                                  Metaspace{"▁", Metaspace::Prepend::first, true}};
  EXPECT_THAT(pieces(after_split, "a-b"), ElementsAre("▁a", "-", "b"));
}

TEST(PreTokenizerTest, StopsAtAnError) {
  auto pre_tokenizer = PreTokenizer::compile({SplitRule{"a"}});
  ASSERT_TRUE(pre_tokenizer);
  int seen = 0;
  auto ok = pre_tokenizer->split("aaaa", Place::beginning, [&](std::string_view) -> Status {
    return ++seen == 2 ? Status(fail(ErrorKind::corrupt, "enough")) : Status();
  });
  EXPECT_FALSE(ok);
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace trainward::trainer

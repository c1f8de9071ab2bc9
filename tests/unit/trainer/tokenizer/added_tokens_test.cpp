#include "trainer/tokenizer/tokens/added_tokens.hpp"

#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

AddedToken token(std::string content, TokenId id, bool lstrip = false, bool rstrip = false) {
  return {std::move(content), id, true, lstrip, rstrip, false, false};
}

TEST(AddedTokensTest, TheFirstPlaceThenTheLongest) {
  const AddedTokens tokens({token("<a>", 1), token("<a><b>", 2), token("a><", 3)});
  auto found = tokens.find("x<a><b>", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 2);
  EXPECT_EQ(found->span, (Span{1, 7}));
  found = tokens.find("x<a><c", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 1);
  found = tokens.find("a><b", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 3);
  EXPECT_FALSE(tokens.find("x<a<a", 0));
  EXPECT_FALSE(AddedTokens({}).find("x", 0));
}

TEST(AddedTokensTest, TakesWhiteSpaceAlongAsTold) {
  const AddedTokens tokens({token("<m>", 1, true, false), token("<n>", 2, false, true)});
  auto found = tokens.find("a \u3000<m> b", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span, (Span{1, 8}));
  found = tokens.find("a <n> \n b", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span, (Span{2, 8}));
}

TEST(AddedTokensTest, LeavesAloneWhatIsUsedUp) {
  const AddedTokens tokens({token("<m>", 1, true, true)});
  const std::string_view text = "<m> <m>";
  const auto first = tokens.find(text, 0);
  ASSERT_TRUE(first);
  EXPECT_EQ(first->span, (Span{0, 4}));
  const auto second = tokens.find(text, first->span.end);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->span, (Span{4, 7}));
}

TEST(AddedTokensTest, ASingleWordTouchesNoOther) {
  AddedToken word = token("the", 1);
  word.single_word = true;
  const AddedTokens tokens({word});
  for (const char* text : {"the", " the ", "(the)", "a.the-b", "\u2603the\u2603", "the\u3000"}) {
    EXPECT_TRUE(tokens.find(text, 0)) << text;
  }
  for (const char* text : {"them", "bathe", "the_", "_the", "the1", "\u00E9the", "the\u0301",
                           "the\u4E16", "the\u24B6", "the\u200D"}) {
    EXPECT_FALSE(tokens.find(text, 0)) << text;
  }
  const auto found = tokens.find("thethe then the", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->span, (Span{12, 15}));
}

// As Hugging Face's search: what is not alone is passed by whole, with the shorter ones in it.
TEST(AddedTokensTest, BehindWhatIsNoSingleWordTheSearchGoesOn) {
  AddedToken word = token("the end", 1);
  word.single_word = true;
  const AddedTokens tokens({word, token("the", 2), token("end", 3)});
  EXPECT_FALSE(tokens.find("the ending", 0));
  const auto found = tokens.find("the ending the", 0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->id, 2);
  EXPECT_EQ(found->span, (Span{11, 14}));
}

}  // namespace
}  // namespace trainward::trainer

#include "trainer/tokenizer/bpe/added_tokens.hpp"

#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

AddedToken token(std::string content, TokenId id, bool lstrip = false, bool rstrip = false) {
  return {std::move(content), id, true, lstrip, rstrip, false};
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

}  // namespace
}  // namespace trainward::trainer

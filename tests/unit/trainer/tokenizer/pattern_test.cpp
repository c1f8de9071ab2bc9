#include "trainer/tokenizer/text/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::trainer {
namespace {

using testing::HasSubstr;

std::optional<Span> first(std::string_view pattern, std::string_view text, bool literal = false) {
  auto compiled = Pattern::compile(pattern, literal);
  EXPECT_TRUE(compiled) << compiled.error().message();
  if (!compiled) return std::nullopt;
  auto found = compiled->find(text, 0);
  EXPECT_TRUE(found) << found.error().message();
  return found ? *found : std::nullopt;
}

TEST(PatternTest, KnowsUnicode) {
  EXPECT_EQ(first(R"(\p{L}+)", "12äβж中3"), (Span{2, 11}));
  EXPECT_EQ(first(R"(\s)", "a\u3000"), (Span{1, 4}));
  EXPECT_EQ(first(R"(\d)", "a٣"), (Span{1, 3}));
  EXPECT_EQ(first(R"((?i:'S))", "it's"), (Span{2, 4}));
  EXPECT_EQ(first(R"(b$)", "ab\nc"), (Span{1, 2})) << "lines have ends";
}

TEST(PatternTest, ALiteralHasNoOperators) {
  EXPECT_EQ(first("a.", "abca.", true), (Span{3, 5}));
  EXPECT_EQ(first(R"(\K)", R"(x\K)", true), (Span{1, 3}));
}

TEST(PatternTest, SaysWhatTheOtherDialectMeansDifferently) {
  EXPECT_EQ(dialect_difference(R"(\h)"), R"(\h)");
  EXPECT_EQ(dialect_difference(R"(a\\\K)"), R"(\K)");
  EXPECT_EQ(dialect_difference("[a[b]]"), "[ inside of a set");
  EXPECT_EQ(dialect_difference("[a-z&&[^b]]"), "&&");
  EXPECT_EQ(dialect_difference("(?im:a)"), "(?m");
  EXPECT_EQ(dialect_difference("a{1,3}+"), "}+");
  EXPECT_EQ(dialect_difference("a{,3}"), "{,");
  EXPECT_EQ(dialect_difference("(*UCP)a"), "(*");
  EXPECT_EQ(dialect_difference("a(?C1)"), "(?C");
  EXPECT_EQ(dialect_difference("[[:x"), "[: without :]");
}

TEST(PatternTest, AcceptsWhatTokenizersUse) {
  for (const std::string_view pattern :
       {R"((?i:'s|'t)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)",
        R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+)", R"([^\r\n]?+\p{L}++)",
        "[][:alpha:]&]", "(?<!a)(?=b)", "(?s).", "[^]a]"}) {
    EXPECT_EQ(dialect_difference(pattern), "") << pattern;
    EXPECT_TRUE(Pattern::compile(pattern)) << pattern;
  }
}

TEST(PatternTest, RefusesWhatItCannotUse) {
  EXPECT_THAT(Pattern::compile("(").error().what, HasSubstr("at byte 1"));
  EXPECT_THAT(Pattern::compile("").error().what, HasSubstr("empty"));
  EXPECT_THAT(Pattern::compile(std::string(70'000, 'a')).error().what, HasSubstr("longer than"));
  EXPECT_FALSE(Pattern::compile(std::string(500, '(') + std::string(500, ')')));
  EXPECT_FALSE(Pattern::compile("(((a{1000}){1000}){1000})"));
  EXPECT_FALSE(Pattern::compile("\xFF"));
  EXPECT_EQ(Pattern::compile(R"(\Q)").error().kind, ErrorKind::usage);
}

TEST(PatternTest, GivesUpInsteadOfRunningForEver) {
  auto pattern = Pattern::compile("(a+)+$");
  ASSERT_TRUE(pattern);
  auto found = pattern->find(std::string(4999, 'a') + "!", 0);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::corrupt);
  EXPECT_THAT(found.error().what, HasSubstr("gave up at byte 0 of a piece of 5000"));
}

}  // namespace
}  // namespace trainward::trainer

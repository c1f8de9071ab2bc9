#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "classify_log.hpp"
#include "supervisor/evidence/rules/line_text.hpp"

namespace trainward::rules {
namespace {

using testing::HasSubstr;

LogMatcher builtin() {
  auto matcher = LogMatcher::load();
  EXPECT_TRUE(matcher);
  return std::move(*matcher);
}

std::vector<Finding> findings(std::string_view text) {
  const LogMatcher matcher = builtin();
  return classify_log(matcher, text).findings;
}

TEST(LogMatcher, RootStandsBeforeCascadeWhateverTheOrderOfLines) {
  const auto matches = findings(
      "step 1\r\n"
      "EOFError: Ran out of input\r\n"
      "link failure -- cmd: ld -o k.elf\r\n"
      "OSError: No space left on device\r\n"
      "OSError: No space left on device\r\n");
  ASSERT_EQ(matches.size(), 3U);
  EXPECT_EQ(matches[0].rule, "disk-full");
  EXPECT_EQ(to_string(matches[0].cause), "disk");
  EXPECT_THAT(matches[0].advice, HasSubstr("disk is full"));
  EXPECT_EQ(matches[0].line, "OSError: No space left on device");
  EXPECT_EQ(matches[0].line_number, 4);
  EXPECT_EQ(matches[0].count, 2);
  EXPECT_EQ(matches[1].rule, "cache-unwritable");
  EXPECT_EQ(matches[2].rule, "data-unreadable");
}

TEST(LogMatcher, BenignRuleSwallowsItsLine) {
  const LogMatcher matcher = builtin();
  const char* text =
      "RESOURCE_EXHAUSTED: Out of memory: ran out of memory trying to allocate 3GiB, not a "
      "failure\n"
      "all well\n";
  EXPECT_TRUE(classify_log(matcher, text).findings.empty());
  EXPECT_EQ(classify_log(matcher, text).benign, 1);
}

TEST(LogMatcher, LimitsHold) {
  const LogMatcher matcher = builtin();
  std::string text;
  for (int i = 0; i < 10'000; ++i)
    text += "loss: nan\nstd::bad_alloc\nEOFError: Ran out of input\n";
  const auto two = classify_log(matcher, text, {}, {.max_findings = 2}).findings;
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(two[0].rule, "oom-host-process");
  EXPECT_EQ(two[0].count, 10'000);

  const std::string late = std::string(100'000, 'x') + " std::bad_alloc";
  EXPECT_TRUE(classify_log(matcher, late).findings.empty());
  const std::string early = "std::bad_alloc " + std::string(100'000, 'x');
  const auto matches = classify_log(matcher, early).findings;
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].line.size(), 500U);
}

TEST(LogMatcher, BrokenBytesAreSearchedAndCleaned) {
  const std::string line = "\xff\xfe\x1b[31mstd::bad_alloc\x1b[0m \xc3\xa4\xe2\x82\n";
  const auto matches = findings(line);
  ASSERT_EQ(matches.size(), 1U);
  EXPECT_EQ(matches[0].line, "??std::bad_alloc \xc3\xa4??");
  EXPECT_TRUE(findings(std::string("a\0b\n\n\n\0", 7)).empty());
}

TEST(PrintableLine, CutsBetweenCharacters) {
  EXPECT_EQ(printable_line("  ab\tc  ", 500), "ab c");
  EXPECT_EQ(printable_line("a\xc3\xa4", 2), "a");
  EXPECT_EQ(printable_line("\x1b[38;5;1", 9), "");
  EXPECT_EQ(printable_line("\x1b", 9), "");
  EXPECT_EQ(printable_line("\x1b]0;a title\aKilled\x1b(B\x1b[m", 9), "Killed");
  EXPECT_EQ(printable_line("\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf", 99), "?????????");
}

}  // namespace
}  // namespace trainward::rules

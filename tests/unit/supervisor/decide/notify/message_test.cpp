// Titles that fit, and lines of a log that are safe to show.
#include "supervisor/decide/notify/message.hpp"

#include <gtest/gtest.h>

#include "common/base/columns.hpp"

namespace trainward::notify {
namespace {

TEST(Message, ATitleNamesTheProgramAndFits) {
  EXPECT_EQ(title_of("trainer", "device_oom, given up (FATAL)"),
            "trainer: device_oom, given up (FATAL)");
  const std::string name(64, 'x');
  const std::string title = title_of(name, "device_oom, resumed from step 3,200");
  EXPECT_EQ(display_width(title), longest_title);
  EXPECT_TRUE(title.ends_with(": device_oom, resumed from step 3,200")) << title;
  EXPECT_LE(display_width(title_of(name, std::string(200, 'y'))), longest_title);
  EXPECT_EQ(title_of("a\x1b[31mb", "c\nd"), "a?[31mb: c d");
}

TEST(Message, LinesOfALogAreCleanedAndFew) {
  std::vector<std::string> lines;
  for (int i = 0; i < 30; ++i) lines.push_back("line " + std::to_string(i));
  EXPECT_EQ(shown_lines(lines, 10).size(), 10U);
  EXPECT_EQ(shown_lines(lines, 10).back(), "line 29") << "the newest stay";
  EXPECT_EQ(shown_lines(lines, 10).front(), "line 20");
  EXPECT_TRUE(shown_lines(lines, 0).empty());
  EXPECT_EQ(shown_lines({"\x1b[31mred\x1b[0m \x07\xff"}, 1).at(0), "red ??");
  EXPECT_EQ(shown_lines({"\x1b]0;title\x07 after"}, 1).at(0), " after");
  std::size_t bytes = 0;
  for (const std::string& line :
       shown_lines(std::vector<std::string>(10, std::string(900, 'z')), 10))
    bytes += line.size();
  EXPECT_LE(bytes, longest_lines);
  EXPECT_GT(bytes, 500U);
}

TEST(Message, EveryKindHasANameAndWords) {
  for (const KindFacts& row : kinds) {
    Kind kind{};
    EXPECT_TRUE(from_string(row.name, kind));
    EXPECT_EQ(kind, row.kind);
    EXPECT_FALSE(row.words.empty());
    EXPECT_FALSE(row.held && row.tier == Tier::critical && row.kind != Kind::stuck)
        << "what is critical is not held, unless it may be given up in a moment";
  }
}

}  // namespace
}  // namespace trainward::notify

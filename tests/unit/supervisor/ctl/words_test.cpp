#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "supervisor/ctl/output/output_words.hpp"
#include "supervisor/ctl/output/table.hpp"

namespace trainward::ctl {
namespace {

TEST(Words, CountsOfProgramsOnlyWhereThereAreAny) {
  EXPECT_EQ(programs_text({{"cache_hits", 1041}, {"cache_misses", 3}}),
            "3 compiled, 1,041 from the cache");
  EXPECT_EQ(programs_text({{"cache_hits", 0}, {"cache_misses", nullptr}}), "");
  EXPECT_EQ(programs_text({}), "");
}

TEST(Words, CleanDisarmsTerminalControls) {
  EXPECT_EQ(clean("a\x1b[31mb\x07"), "a?[31mb?");
  EXPECT_EQ(clean("tab\tline\nend"), "tab line end");
  EXPECT_EQ(clean("\xC2\x9B 5m"), "? 5m");  // the eight-bit CSI
  EXPECT_EQ(clean("24→30 …"), "24→30 …");
}

TEST(Words, WrappedPartsAtSpacesAndLosesNothingElse) {
  using testing::ElementsAre;
  EXPECT_THAT(wrapped("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("one two  three", 8), ElementsAre("one two", "three"));
  EXPECT_THAT(wrapped("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(wrapped("→→→→ a", 3), ElementsAre("→→→", "→ a"));
  EXPECT_THAT(wrapped(" abcdef", 3), ElementsAre(" ab", "cde", "f"));
  EXPECT_THAT(wrapped("abc   ", 4), ElementsAre("abc"));
  EXPECT_THAT(wrapped("as it is", 0), ElementsAre("as it is"));
  EXPECT_THAT(wrapped("", 5), ElementsAre(""));
}

TEST(Words, ShortenedCountsCharactersNotBytes) {
  EXPECT_EQ(shortened("abc", 3), "abc");
  EXPECT_EQ(shortened("abcd", 3), "ab…");
  EXPECT_EQ(shortened("→→→→", 3), "→→…");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Words, Age) {
  EXPECT_EQ(age(-5), "just now");
  EXPECT_EQ(age(42'000), "42 s ago");
  EXPECT_EQ(age(3 * 60'000 + 59'000), "3 min ago");
  EXPECT_EQ(age(26 * 3'600'000LL), "26 h ago");
  EXPECT_EQ(age(50 * 3'600'000LL), "2 d ago");
}

TEST(Words, WallMsOf) {
  EXPECT_EQ(wall_ms_of("2025-11-20T21:43:20.123Z"), 1'763'675'000'123);
  EXPECT_EQ(wall_ms_of("2025-11-20T21:43:20Z"), 1'763'675'000'000);
  EXPECT_FALSE(wall_ms_of("2025-11-20T21:43:20").has_value());
  EXPECT_FALSE(wall_ms_of("yesterday").has_value());
  EXPECT_FALSE(wall_ms_of("").has_value());
}

TEST(Words, Numbers) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(-123456), "-123,456");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(percent(0.6234), "62.3 %");
  EXPECT_EQ(human_seconds(-3), "0 ms");
  EXPECT_EQ(human_seconds(75), "1 min 15 s");
}

TEST(Words, PercentEncoded) { EXPECT_EQ(percent_encoded("a-b_c.d/e f"), "a-b_c.d%2Fe%20f"); }

TEST(TableText, AlignsAndCutsOnlyTheLastColumn) {
  Table table({{"N", Align::right}, {"NAME"}, {"TEXT"}});
  table.add({Cell("7"), Cell("a→b"), Cell("0123456789012345678901234567890")});
  table.add({Cell("12"), Cell("long name"), Cell("x")});
  EXPECT_EQ(table.text({}),
            " N  NAME       TEXT\n"
            " 7  a→b        0123456789012345678901234567890\n"
            "12  long name  x\n");
  EXPECT_EQ(table.text({false, 40}),
            " N  NAME       TEXT\n"
            " 7  a→b        012345678901234567890123…\n"
            "12  long name  x\n");
}

TEST(TableText, ColoursDoNotShiftColumns) {
  Table table({{""}, {""}});
  table.add({Cell("OK", Colour::green), Cell("x")});
  table.add({Cell("LONGER"), Cell("y")});
  EXPECT_EQ(table.text({true, 0}), "\x1b[32mOK\x1b[0m      x\nLONGER  y\n");
}

}  // namespace
}  // namespace trainward::ctl

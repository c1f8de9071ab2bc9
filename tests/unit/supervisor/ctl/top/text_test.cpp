// Text in columns, dots, log lines.
#include <gmock/gmock.h>

#include "supervisor/ctl/top/canvas.hpp"
#include "supervisor/ctl/top/dots.hpp"
#include "supervisor/ctl/top/glyphs.hpp"
#include "supervisor/ctl/top/top_log_tail.hpp"

namespace trainward::ctl::top {
namespace {

using ::testing::ElementsAre;

TEST(Glyphs, KnowTheirColumns) {
  EXPECT_EQ(width_of("abc"), 3);
  EXPECT_EQ(width_of("漢字"), 4);
  EXPECT_EQ(width_of("e\u0301é"), 2) << "a mark stands on the letter before it";
  EXPECT_EQ(width_of("⣿"), 1);
  EXPECT_EQ(width_of("😀"), 2);
  EXPECT_EQ(width_of("\u0301"), 0);
  EXPECT_EQ(width_of("a\u200Bb\x1b[1m"), 7) << "what a terminal would obey is a question mark";
  std::string prank = "x";
  for (int i = 0; i < 1000; ++i) prank += "\u0301";
  EXPECT_LE(glyphs_of(prank).front().text.size(), 16U);
}

TEST(Glyphs, AreCutAndWrappedByColumns) {
  EXPECT_EQ(cut("abcdef", 6), "abcdef");
  EXPECT_EQ(cut("abcdef", 4), "abc…");
  EXPECT_EQ(cut("漢字漢字", 4), "漢…");
  EXPECT_EQ(cut("abc", 0), "");
  EXPECT_THAT(lines_of("one two three", 8, 3), ElementsAre("one two", "three"));
  EXPECT_THAT(lines_of("one two three four", 8, 2), ElementsAre("one two", "three f…"));
  EXPECT_THAT(lines_of("漢字", 1, 3), ElementsAre("漢", "字"))
      << "too wide, and goes on all the same";
  EXPECT_THAT(lines_of("", 5, 2), ElementsAre(""));
}

TEST(CanvasTest, WhatIsPutOverHalfAWideCharacterTakesItAway) {
  Canvas canvas({6, 1});
  canvas.put(0, 0, "漢字", {}, 6);
  canvas.put(1, 0, "x", {}, 1);
  EXPECT_EQ(text_of(canvas, false), " x字\n");
  canvas.put(1, 0, "漢", {}, 2);
  EXPECT_EQ(text_of(canvas, false), " 漢\n");
  EXPECT_EQ(canvas.put(5, 0, "漢", {}, 6), 2) << "it has no room there";
  EXPECT_EQ(canvas.at(5, 0).text, " ");
}

TEST(CanvasTest, NothingReachesItRaw) {
  Canvas canvas({40, 1});
  canvas.put(0, 0, "a\x1b]0;title\x07\x1b[2Jb\xff\u202E\u009b", {}, 40);
  EXPECT_EQ(text_of(canvas, false), "a?]0;title??[2Jb???\n");
}

TEST(DotsTest, AreWhereTheyWereSet) {
  Dots dots(2, 1, false);
  EXPECT_EQ(dots.width(), 4);
  EXPECT_EQ(dots.height(), 4);
  dots.set(0, 0);
  dots.set(1, 3);
  dots.set(-1, 0);
  dots.set(4, 0);
  EXPECT_EQ(dots.character(0, 0), "⢁");
  EXPECT_TRUE(dots.empty(1, 0));
  for (int y = 0; y < 4; ++y) dots.line(2, y, 3, y);
  EXPECT_EQ(dots.character(1, 0), "⣿");
  Dots ascii(1, 1, true);
  ascii.set(0, 1);
  EXPECT_EQ(ascii.character(0, 0), ".");
}

TEST(LogTailTest, KeepsTheNewestLinesAsTheyLook) {
  LogTail tail;
  tail.add("one\n\x1b[31mred\x1b[0m\n  10%\r 20%\r100%\n\tindented\n\x1b]0;title\x07plain\r\nun");
  EXPECT_THAT(tail.lines(), ElementsAre("one", "red", "100%", "    indented", "plain", "un"));
  tail.add("finished\n");
  EXPECT_EQ(tail.lines().back(), "unfinished");
  for (int i = 0; i < 5000; ++i) tail.add(std::to_string(i) + "\n");
  EXPECT_EQ(tail.lines().size(), 2000U);
  EXPECT_EQ(tail.lines().back(), "4999");
  tail.clear();
  EXPECT_TRUE(tail.lines().empty());
}

TEST(LogTailTest, ALineWithoutEndIsBounded) {
  LogTail tail;
  for (int i = 0; i < 100; ++i) tail.add(std::string(100'000, 'x') + "\r");
  tail.add("end");
  EXPECT_EQ(tail.lines(), std::vector<std::string>{"end"});
  tail.add(std::string(1'000'000, 'y'));
  EXPECT_LE(tail.lines().back().size(), 4096U);
}

}  // namespace
}  // namespace trainward::ctl::top

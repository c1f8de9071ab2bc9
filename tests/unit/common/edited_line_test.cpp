// Lines typed at a terminal: keys in, text out.
#include "common/terminal/edited_line.hpp"

#include <gtest/gtest.h>

#include "common/terminal/line_editor.hpp"

namespace trainward {
namespace {

using Then = EditedLine::Then;

// The text after these keys.
std::string typed(std::string_view keys, std::vector<std::string> history = {}) {
  EditedLine line(std::move(history));
  for (const char key : keys) line.take(key);
  return line.text();
}

TEST(EditedLine, KeysMoveAndErase) {
  EXPECT_EQ(typed("status"), "status");
  EXPECT_EQ(typed("ac\x1b[Db"), "abc") << "left";
  EXPECT_EQ(typed("ac\x1b[D\x1b[C!"), "ac!") << "right";
  EXPECT_EQ(typed("bc\x01"
                  "a"),
            "abc")
      << "Ctrl-A";
  EXPECT_EQ(typed("bc\x1b[Ha\x1b[Fd"), "abcd") << "Home, End";
  EXPECT_EQ(typed("abx\x7f"
                  "c"),
            "abc")
      << "Backspace";
  EXPECT_EQ(typed("xabc\x1b[1~\x1b[3~"), "abc") << "Delete";
  EXPECT_EQ(typed("stop all\x17run"), "stop run") << "Ctrl-W";
  EXPECT_EQ(typed("stop all\x15"), "") << "Ctrl-U";
  EXPECT_EQ(typed("stop all\x1b[D\x1b[D\x0b"), "stop a") << "Ctrl-K";
  EXPECT_EQ(typed("\x7f\x1b[D\x1b[C\x1b[3~\x17"), "") << "nothing there";
}

TEST(EditedLine, ACharacterOfSeveralBytesIsOne) {
  EXPECT_EQ(typed("zoé\x7f"), "zo");
  EXPECT_EQ(typed("é\x1b[Dz"), "zé");
  EXPECT_EQ(typed("éa\x01\x1b[3~"), "a");
}

TEST(EditedLine, WhatATerminalSendsBesideIsSwallowed) {
  EXPECT_EQ(typed("a\x1b[15~b\x1bOQ\x1b[1;5Cc\x1bx"), "abc");
  EXPECT_EQ(typed(std::string("a\0\x02", 3) + "b"), "ba");
}

TEST(EditedLine, TheArrowsRecallWhatWasTyped) {
  const std::vector<std::string> before{"status", "stop run"};
  EXPECT_EQ(typed("\x1b[A", before), "stop run");
  EXPECT_EQ(typed("\x1b[A\x1b[A", before), "status");
  EXPECT_EQ(typed("\x1b[A\x1b[A\x1b[A\x1b[A", before), "status") << "there is no older one";
  EXPECT_EQ(typed("new\x1b[A\x1b[B", before), "new") << "what was being typed is kept";
  EXPECT_EQ(typed("\x1b[B", before), "");
  EXPECT_EQ(typed("\x1b[A\x1b[A\x1b[B2", before), "stop run2");
}

TEST(EditedLine, SaysWhatIsToBeDone) {
  EditedLine line;
  EXPECT_EQ(line.take('\x04'), Then::end);
  EXPECT_EQ(line.take('a'), Then::go_on);
  EXPECT_EQ(line.take('\x04'), Then::go_on) << "on a line with text it erases";
  EXPECT_EQ(line.take('\t'), Then::complete);
  EXPECT_EQ(line.take('\x0c'), Then::clear);
  EXPECT_EQ(line.take('\x03'), Then::give_up);
  EXPECT_EQ(line.take('\r'), Then::accept);
}

TEST(EditedLine, IsDrawnOnOneLine) {
  EditedLine line;
  line.insert("status");
  EXPECT_EQ(line.drawn("> ", 0), "\r> status\x1b[K");
  line.take('\x02');
  line.take('\x02');
  EXPECT_EQ(line.drawn("> ", 80), "\r> status\x1b[K\x1b[2D");
  EditedLine wide;
  wide.insert("abcdefghij");
  EXPECT_EQ(wide.drawn("> ", 8), "\r> fghij\x1b[K") << "the cursor stays in sight";
  wide.take('\x01');
  EXPECT_EQ(wide.drawn("> ", 8), "\r> abcde\x1b[K\x1b[5D");
}

TEST(Completion, AddsWhatAllWordsHave) {
  EXPECT_EQ(common_rest("sta", {"start", "status", "stop"}), "");
  EXPECT_EQ(common_rest("s", {"start", "status"}), "ta");
  EXPECT_EQ(common_rest("stat", {"start", "status", "stop"}), "us ");
  EXPECT_EQ(common_rest("status", {"status"}), " ");
  EXPECT_EQ(common_rest("x", {"start"}), "");
  EXPECT_EQ(common_rest("", {}), "");
}

}  // namespace
}  // namespace trainward

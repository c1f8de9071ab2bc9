// What of somebody else's text a terminal is given.
#include "common/base/terminal_text.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward {
namespace {

struct Case {
  std::string_view text;
  std::string_view line;   // clean()
  std::string_view lines;  // clean_lines()
};

const std::vector<Case> cases{
    {"plain, \u00e9\u4e16\U0001F600", "plain, \u00e9\u4e16\U0001F600",
     "plain, \u00e9\u4e16\U0001F600"},
    {"a\tb\nc", "a b c", "a\tb\nc"},
    {"10%\r20%\r\nnext", "10% 20%  next", "10%\n20%\nnext"},
    {"\x1b]0;pwned\x07"
     "after",
     "?]0;pwned?after", "after"},
    {"\x1b[31mred\x1b[0m", "?[31mred?[0m", "red"},
    {"\x1b[2J\x1b[1;1Hgone", "?[2J?[1;1Hgone", "gone"},
    {"\x1b", "?", ""},
    {"bell\a and back\b\b", "bell? and back??", "bell? and back??"},
    {"del\x7f", "del?", "del?"},
    {"\xc2\x9b"
     "31m",
     "?31m", "?31m"},  // U+009B, an eight-bit CSI
    {"\x9b"
     "31m",
     "?31m", "?31m"},  // the byte alone is no UTF-8
    {"abc\u202Etxt.exe\u202C", "abc?txt.exe?", "abc?txt.exe?"},
    {"\u202A\u202B\u202D\u2066\u2067\u2068\u2069", "???????", "???????"},
    {"zero\u200Bwidth\uFEFF", "zero?width?", "zero?width?"},
    {"line\u2028end", "line?end", "line?end"},
    {"\xff\xfe \xc3( \xe2\x82", "?? ?( ??", "?? ?( ??"},
};

TEST(TerminalText, ATable) {
  for (const Case& one : cases) {
    EXPECT_EQ(clean(one.text), one.line);
    EXPECT_EQ(clean_lines(one.text), one.lines) << one.line;
  }
}

bool is_safe(std::string_view text) {
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return false;
  }
  return is_utf8(text) && text.find("\u202E") == text.npos && text.find("\xc2\x9b") == text.npos;
}

std::string in_pieces(std::string_view text, std::mt19937& random) {
  TerminalText terminal;
  std::string out;
  while (!text.empty()) {
    const auto piece = text.substr(0, 1 + random() % 7);
    out += terminal.take(piece);
    text.remove_prefix(piece.size());
  }
  return out + terminal.rest();
}

TEST(TerminalText, WhereverItIsCutItSaysTheSame) {
  constexpr unsigned seed = 9;
  SCOPED_TRACE("seed 9");
  std::mt19937 random(seed);
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (unsigned i = random() % 6; i > 0; --i) text += cases[random() % cases.size()].text;
    const std::string shown = in_pieces(text, random);
    ASSERT_TRUE(is_safe(shown)) << clean(text);
    ASSERT_EQ(shown, clean_lines(text)) << clean(text);
  }
}

TEST(TerminalText, BytesOfAnyKindAreSafe) {
  constexpr unsigned seed = 10;
  SCOPED_TRACE("seed 10");
  std::mt19937 random(seed);
  for (int round = 0; round < 5'000; ++round) {
    std::string text(random() % 300, '\0');
    for (char& c : text)
      c = static_cast<char>(random() % 3 == 0 ? "\x1b[]\\;m\xc2\x9b"[random() % 8] : random());
    ASSERT_TRUE(is_safe(in_pieces(text, random)));
    ASSERT_TRUE(is_safe(clean(text)));
  }
}

TEST(TerminalText, WhatHasNoEndIsNotHeldForEver) {
  TerminalText terminal;
  std::string out = terminal.take("\x1b]0;" + std::string(5'000, 'x'));
  EXPECT_GT(out.size(), 4'000U);
  EXPECT_EQ(terminal.take("\x1b["), "");
  EXPECT_EQ(terminal.take("3"), "");
  EXPECT_EQ(terminal.take("1mred\xe4\xb8"), "red");
  EXPECT_EQ(terminal.take("\x96"), "\u4e16");
  EXPECT_EQ(terminal.rest(), "");
}

}  // namespace
}  // namespace trainward

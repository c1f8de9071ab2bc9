#include <gtest/gtest.h>

#include "trainer/tokenizer/text/tokenizer_utf8.hpp"
#include "trainer/tokenizer/tokens/byte_characters.hpp"
#include "vocabulary.hpp"

namespace trainward::trainer {
namespace {

TEST(Utf8Test, TakesExactlyTheCodePointsThereAre) {
  for (char32_t c = 0; c <= 0x110000; ++c) {
    std::string text;
    append_utf8(text, c);
    const bool valid = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
    ASSERT_EQ(utf8_character(text), valid ? text.size() : 0) << std::hex << std::uint32_t{c};
    if (!valid) continue;
    ASSERT_EQ(utf8_code_point(text), c);
    ASSERT_EQ(utf8_character(std::string_view(text).substr(0, text.size() - 1)), 0U);
  }
}

TEST(Utf8Test, RefusesOverlongFormsAndStrayBytes) {
  for (const std::string_view bad : {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF",
                                     "\xF0\x8F\xBF\xBF", "\xF5\x80\x80\x80", "\xFF", ""}) {
    EXPECT_EQ(utf8_character(bad), 0U);
  }
}

TEST(Utf8Test, FindsWhereValidTextEnds) {
  for (std::size_t ascii = 0; ascii < 40; ++ascii) {
    const std::string text(ascii, 'a');
    EXPECT_EQ(utf8_valid_prefix(text), ascii);
    EXPECT_EQ(utf8_valid_prefix(text + "é" + text + "\xFF" + text), 2 * ascii + 2);
    EXPECT_EQ(utf8_valid_prefix(text + "\xE4\xB8"), ascii);
  }
}

TEST(Utf8Test, KnowsWhiteSpace) {
  EXPECT_EQ(leading_space(" \t\u00A0\u3000x "), 2U + 2U + 3U);
  EXPECT_EQ(trailing_space(" x\u2003\r\n"), 3U + 2U);
  EXPECT_EQ(trailing_space("\u200B"), 0U) << "a zero-width space is not a space";
  EXPECT_EQ(leading_space(""), 0U);
  EXPECT_EQ(trailing_space("  "), 2U);
}

TEST(ByteCharactersTest, EveryByteHasACharacterAndBack) {
  for (int i = 0; i < 256; ++i) {
    const std::string byte(1, static_cast<char>(i));
    EXPECT_EQ(bytes_of_token(token_of_bytes(byte)), byte);
  }
  EXPECT_EQ(token_of_bytes(" a\n"), "ĠaĊ");
  EXPECT_EQ(token_of_bytes("\xAD"), "\u0143");
  EXPECT_EQ(bytes_of_token("<｜x"), std::nullopt);
  EXPECT_EQ(bytes_of_token("a b"), std::nullopt);
}

// By trying every end: it is incomplete when some byte behind it makes it longer or whole.
TEST(Utf8Test, TellsWhatMoreBytesCouldComplete) {
  for (const std::string whole :
       {"a", "\u00E9", "\u0800", "\uD7FF", "\u4E16", "\U00010000", "\U0001F600", "\U0010FFFF"}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      const std::string text = "x" + whole.substr(0, size);
      EXPECT_EQ(utf8_incomplete_tail(text), size == whole.size() ? 0 : size) << whole << size;
    }
  }
  for (const char* never : {"\x80", "\xFF", "\xC0", "\xC1", "\xF5", "\xE0\x80", "\xED\xA0",
                            "\xF0\x80", "\xF4\x90", "\xE4\xFF", "\xF0\x9F\xC3\xA9"}) {
    EXPECT_EQ(utf8_incomplete_tail(never), 0U) << never;
  }
}

}  // namespace
}  // namespace trainward::trainer

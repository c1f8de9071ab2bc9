// Against the examples of the Unicode standard (UAX #15 and chapter 3.12), written out.
#include "trainer/tokenizer/text/normal_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>

#include "common/base/utf8.hpp"
#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

constexpr NormalForm forms[] = {NormalForm::nfc, NormalForm::nfd, NormalForm::nfkc,
                                NormalForm::nfkd};

std::string text_of(std::u32string_view characters) {
  std::string text;
  for (const char32_t c : characters) append_utf8(text, c);
  return text;
}

// As code points, for messages.
std::string shown(std::string_view text) {
  std::string words;
  for (; !text.empty(); text.remove_prefix(utf8_character(text))) {
    words += fmt::format("{:04X} ", static_cast<std::uint32_t>(utf8_code_point(text)));
  }
  return words;
}

std::string in_form(std::string_view text, NormalForm form) {
  std::string copy;
  return std::string(normal_form(text, form, copy));
}

struct Example {
  std::u32string_view text;
  std::u32string_view nfc, nfd, nfkc, nfkd;
};

TEST(NormalForm, OfUnicodesOwnExamples) {
  const Example examples[] = {
      // Figures 3 to 6 of UAX #15.
      {U"\u212B", U"\u00C5", U"A\u030A", U"\u00C5", U"A\u030A"},  // the angstrom sign
      {U"\u00C5", U"\u00C5", U"A\u030A", U"\u00C5", U"A\u030A"},
      {U"A\u030A", U"\u00C5", U"A\u030A", U"\u00C5", U"A\u030A"},
      {U"\u2126", U"\u03A9", U"\u03A9", U"\u03A9", U"\u03A9"},  // the ohm sign
      {U"\u00F4", U"\u00F4", U"o\u0302", U"\u00F4", U"o\u0302"},
      {U"\u1E69", U"\u1E69", U"s\u0323\u0307", U"\u1E69", U"s\u0323\u0307"},
      {U"s\u0307\u0323", U"\u1E69", U"s\u0323\u0307", U"\u1E69", U"s\u0323\u0307"},
      {U"\u1E0B\u0323", U"\u1E0D\u0307", U"d\u0323\u0307", U"\u1E0D\u0307", U"d\u0323\u0307"},
      {U"q\u0307\u0323", U"q\u0323\u0307", U"q\u0323\u0307", U"q\u0323\u0307", U"q\u0323\u0307"},
      {U"\uFB01", U"\uFB01", U"\uFB01", U"fi", U"fi"},
      {U"2\u2075", U"2\u2075", U"2\u2075", U"25", U"25"},
      {U"\u1E9B\u0323", U"\u1E9B\u0323", U"\u017F\u0323\u0307", U"\u1E69", U"s\u0323\u0307"},
      // Hangul: L V, L V T, LV T; U+11A7 is no trailing consonant, and an LVT takes no other.
      {U"\u1112\u1161", U"\uD558", U"\u1112\u1161", U"\uD558", U"\u1112\u1161"},
      {U"\u1112\u1161\u11AB", U"\uD55C", U"\u1112\u1161\u11AB", U"\uD55C", U"\u1112\u1161\u11AB"},
      {U"\uD558\u11AB", U"\uD55C", U"\u1112\u1161\u11AB", U"\uD55C", U"\u1112\u1161\u11AB"},
      {U"\uAC00\u11A7", U"\uAC00\u11A7", U"\u1100\u1161\u11A7", U"\uAC00\u11A7",
       U"\u1100\u1161\u11A7"},
      {U"\uD55C\u11AB", U"\uD55C\u11AB", U"\u1112\u1161\u11AB\u11AB", U"\uD55C\u11AB",
       U"\u1112\u1161\u11AB\u11AB"},
      // The filler before and the vowels after the modern ones do not compose.
      {U"\u1112\u1160", U"\u1112\u1160", U"\u1112\u1160", U"\u1112\u1160", U"\u1112\u1160"},
      {U"\u1112\u1176", U"\u1112\u1176", U"\u1112\u1176", U"\u1112\u1176", U"\u1112\u1176"},
      // A mark between keeps two starters apart.
      {U"\u1100\u0300\u1161", U"\u1100\u0300\u1161", U"\u1100\u0300\u1161", U"\u1100\u0300\u1161",
       U"\u1100\u0300\u1161"},
      // Starters that compose: Bengali O.
      {U"\u09C7\u09BE", U"\u09CB", U"\u09C7\u09BE", U"\u09CB", U"\u09C7\u09BE"},
      // Excluded from composition: Devanagari QA, a mark that is two, a musical note.
      {U"\u0958", U"\u0915\u093C", U"\u0915\u093C", U"\u0915\u093C", U"\u0915\u093C"},
      {U"\u0344", U"\u0308\u0301", U"\u0308\u0301", U"\u0308\u0301", U"\u0308\u0301"},
      {U"\U0001D15E", U"\U0001D157\U0001D165", U"\U0001D157\U0001D165", U"\U0001D157\U0001D165",
       U"\U0001D157\U0001D165"},
      // Blocked: the second of one class waits behind the first.
      {U"a\u0300\u0301", U"\u00E0\u0301", U"a\u0300\u0301", U"\u00E0\u0301", U"a\u0300\u0301"},
      {U"a\u0315\u0300\u05AE\u0300b", U"\u00E0\u05AE\u0300\u0315b", U"a\u05AE\u0300\u0300\u0315b",
       U"\u00E0\u05AE\u0300\u0315b", U"a\u05AE\u0300\u0300\u0315b"},
      // Marks before any letter.
      {U"\u0323\u0307a", U"\u0323\u0307a", U"\u0323\u0307a", U"\u0323\u0307a", U"\u0323\u0307a"},
      {U"\u0307\u0323", U"\u0323\u0307", U"\u0323\u0307", U"\u0323\u0307", U"\u0323\u0307"},
      {U"", U"", U"", U"", U""},
  };
  for (const Example& example : examples) {
    const std::string text = text_of(example.text);
    const std::u32string_view wanted[] = {example.nfc, example.nfd, example.nfkc, example.nfkd};
    for (std::size_t i = 0; i < std::size(forms); ++i) {
      EXPECT_EQ(shown(in_form(text, forms[i])), shown(text_of(wanted[i])))
          << "form " << i << " of " << shown(text);
    }
  }
}

TEST(NormalForm, CopiesNothingThatIsInTheFormAlready) {
  for (const char* text : {"", "plain", "ma\u00F1ana, \uD55C\uAD6D, \u4E2D\u6587 x"}) {
    std::string copy = "untouched";
    const std::string_view same = normal_form(text, NormalForm::nfc, copy);
    EXPECT_EQ(same.data(), text);
    EXPECT_EQ(same, text);
    EXPECT_EQ(copy, "untouched");
  }
}

// Sorted by inserting, this would take minutes. Every other mark belongs before the one before it.
TEST(NormalForm, AMebibyteOfMarksIsSorted) {
  constexpr std::size_t pairs = std::size_t{1} << 18U;
  std::string text = "a";
  std::string wanted = "\u1EA1";  // a with a dot below
  for (std::size_t i = 0; i < pairs; ++i) text += "\u0307\u0323";
  for (std::size_t i = 1; i < pairs; ++i) wanted += "\u0323";
  for (std::size_t i = 0; i < pairs; ++i) wanted += "\u0307";
  EXPECT_EQ(text.size(), 4 * pairs + 1);
  EXPECT_TRUE(in_form(text, NormalForm::nfc) == wanted);
  EXPECT_EQ(in_form(in_form(text, NormalForm::nfd), NormalForm::nfc), wanted);
}

// Whatever comes before or after a line end, and wherever the text is cut there: the same.
TEST(NormalForm, OfAnyTextIsStableAndConsistent) {
  const auto seed =
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
  SCOPED_TRACE(fmt::format("seed {}", seed));
  std::mt19937_64 random(seed);
  // Ranges that hold what composes, marks, Hangul, and what is excluded.
  constexpr std::pair<char32_t, char32_t> ranges[] = {
      {0x20, 0x7F},     {0xC0, 0x24F},    {0x300, 0x36F},     {0x370, 0x3FF},
      {0x900, 0x9FF},   {0xF40, 0xFBC},   {0x1100, 0x11FF},   {0x1E00, 0x1FFF},
      {0x2000, 0x2150}, {0xAC00, 0xAC40}, {0x1D150, 0x1D1C0}, {0xFB00, 0xFB4F}};
  const auto any_text = [&] {
    std::string text;
    for (auto left = random() % 30; left > 0; --left) {
      const auto& [low, high] = ranges[random() % std::size(ranges)];
      append_utf8(text, low + static_cast<char32_t>(random() % (high - low)));
    }
    return text;
  };
  for (int round = 0; round < 3000; ++round) {
    const std::string text = any_text();
    const std::string more = any_text();
    for (const NormalForm form : forms) {
      const std::string once = in_form(text, form);
      ASSERT_TRUE(is_utf8(once)) << shown(text);
      ASSERT_EQ(shown(in_form(once, form)), shown(once)) << shown(text);
      // ASCII starts over.
      ASSERT_EQ(in_form(text + "\n" + more, form), once + in_form("\n" + more, form));
    }
    ASSERT_EQ(shown(in_form(in_form(text, NormalForm::nfd), NormalForm::nfc)),
              shown(in_form(text, NormalForm::nfc)))
        << shown(text);
    ASSERT_EQ(shown(in_form(in_form(text, NormalForm::nfc), NormalForm::nfd)),
              shown(in_form(text, NormalForm::nfd)))
        << shown(text);
    ASSERT_EQ(shown(in_form(in_form(text, NormalForm::nfkd), NormalForm::nfkc)),
              shown(in_form(text, NormalForm::nfkc)))
        << shown(text);
  }
}

}  // namespace
}  // namespace trainward::trainer

#include "common/base/text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "common/base/digest.hpp"
#include "common/base/escape_sequence.hpp"
#include "common/base/shell_words.hpp"
#include "common/base/time.hpp"

namespace trainward {
namespace {

TEST(Text, NearestFindsTyposOnly) {
  constexpr std::array<std::string_view, 3> keys{"learning_rate", "batch_size", "steps"};
  EXPECT_EQ(nearest("lerning_rate", keys), "learning_rate");
  EXPECT_EQ(nearest("step", keys), "steps");
  EXPECT_EQ(nearest("xyzzy", keys), "");
  EXPECT_EQ(nearest("anything", {}), "");
}

TEST(EscapeSequence, IsAsLongAsATerminalTakesIt) {
  EXPECT_EQ(escape_sequence_length("\x1b[31;1mred"), 7U);
  EXPECT_EQ(escape_sequence_length("\x1b]0;title\aafter"), 10U);
  EXPECT_EQ(escape_sequence_length("\x1b]8;;http://a\x1b\\link"), 15U);
  EXPECT_EQ(escape_sequence_length("\x1b]0;no end"), 2U);
  EXPECT_EQ(escape_sequence_length("\x1b(B\x1b[m"), 3U);  // as `tput sgr0` writes it
  EXPECT_EQ(escape_sequence_length("\x1bMup"), 2U);
  EXPECT_EQ(escape_sequence_length("\x1b[31"), 4U);
  EXPECT_EQ(escape_sequence_length("\x1b\n"), 1U);
  EXPECT_EQ(escape_sequence_length("\x1b"), 1U);
  EXPECT_EQ(without_escape_sequences("\x1b[1mloss\x1b(B\x1b[m: \x1b]0;t\a2.5\x1b"), "loss: 2.5");
}

TEST(Text, DurationsAndSizesForPeople) {
  EXPECT_EQ(human_duration(850), "850 ms");
  EXPECT_EQ(human_duration(12'340), "12.3 s");
  EXPECT_EQ(human_duration(245'000), "4 min 05 s");
  EXPECT_EQ(human_duration(3 * 3'600'000 + 7 * 60'000), "3 h 07 min");
  EXPECT_EQ(clock_duration(97'989'000), "27:13:09");
  EXPECT_EQ(human_bytes(17), "17 B");
  EXPECT_EQ(human_bytes(1'610'612'736), "1.50 GiB");
  EXPECT_EQ(count(1, "step"), "1 step");
}

TEST(Text, TimesForMachines) {
  EXPECT_EQ(iso8601(1'700'000'000'123), "2023-11-14T22:13:20.123Z");
  EXPECT_EQ(iso8601(0), "1970-01-01T00:00:00.000Z");
}

TEST(Text, Sha256OfTheStandardsExample) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(ShellWords, AreSplitAsAShellDoes) {
  using Words = std::vector<std::string>;
  const auto words = [](std::string_view text) {
    const auto split = split_words(text);
    return split ? split->words : Words{"error: " + split.error().what};
  };
  EXPECT_EQ(words(" a  b\tc "), (Words{"a", "b", "c"}));
  EXPECT_EQ(words(R"('a b' "c d" e\ f '' x"y"z)"), (Words{"a b", "c d", "e f", "", "xyz"}));
  EXPECT_EQ(words(R"("a\"b \n" 'a\b')"), (Words{"a\"b \\n", "a\\b"}));
  EXPECT_EQ(words(""), Words{});
  EXPECT_EQ(words("it's"), Words{"error: a ' that is never closed"});
  EXPECT_EQ(words("\"a"), Words{"error: a \" that is never closed"});
  EXPECT_EQ(words("a\\"), Words{"error: ends with a backslash"});
}

TEST(ShellWords, WhatOnlyAShellWouldObeyIsNamed) {
  EXPECT_EQ(split_words("python3 t.py --x={checkpoint} a~b a#b 'a|b' \\$")->obeyed, 0);
  EXPECT_EQ(split_words("a | b > c")->obeyed, '|');
  EXPECT_EQ(split_words("echo \"$HOME\"")->obeyed, '$');
  EXPECT_EQ(split_words("ls ~/x")->obeyed, '~');
  EXPECT_EQ(split_words("a # b")->obeyed, '#');
  EXPECT_EQ(split_words("ls *.py")->obeyed, '*');
  EXPECT_EQ(split_words("a\nb")->obeyed, '\n');
}

}  // namespace
}  // namespace trainward

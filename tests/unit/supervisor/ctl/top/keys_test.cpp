#include "supervisor/ctl/top/keys.hpp"

#include <gmock/gmock.h>

#include <random>

namespace trainward::ctl::top {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Key text(const char* character) { return {KeyName::text, character}; }
Key named(KeyName name) { return {name, ""}; }

TEST(Keys, AreReadOutOfWhatTerminalsSend) {
  KeyParser parser;
  EXPECT_THAT(parser.take("q"), ElementsAre(text("q")));
  EXPECT_THAT(parser.take("\x1b[A\x1bOB\x1b[1;5C\x1b[D"),
              ElementsAre(named(KeyName::up), named(KeyName::down), named(KeyName::right),
                          named(KeyName::left)));
  EXPECT_THAT(parser.take("\x1b[5~\x1b[6;2~\x1b[H\x1b[4~\x1b[Z\t"),
              ElementsAre(named(KeyName::page_up), named(KeyName::page_down), named(KeyName::home),
                          named(KeyName::end), named(KeyName::back_tab), named(KeyName::tab)));
  EXPECT_THAT(parser.take("\r\n\x7f\b"),
              ElementsAre(named(KeyName::enter), named(KeyName::enter), named(KeyName::backspace),
                          named(KeyName::backspace)));
  EXPECT_THAT(parser.take("\x03\x1a"),
              ElementsAre(Key{KeyName::control, "C"}, Key{KeyName::control, "Z"}));
  EXPECT_THAT(parser.take("é漢"), ElementsAre(text("é"), text("漢")));
  EXPECT_FALSE(parser.patience_ms());
}

TEST(Keys, ComeInPieces) {
  const std::string bytes = "a\x1b[1;5A\x1bOP漢\x1b[200~stop\x1b[201~z\x1b]0;title\x07y";
  KeyParser whole;
  const auto expected = whole.take(bytes);
  EXPECT_THAT(expected,
              ElementsAre(text("a"), named(KeyName::up), text("漢"), text("z"), text("y")));
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    KeyParser parser;
    auto keys = parser.take(std::string_view(bytes).substr(0, cut));
    const auto rest = parser.take(std::string_view(bytes).substr(cut));
    keys.insert(keys.end(), rest.begin(), rest.end());
    EXPECT_EQ(keys, expected) << "cut at " << cut;
  }
}

TEST(Keys, EscapeAloneIsKnownByTheSilenceBehindIt) {
  KeyParser parser;
  EXPECT_THAT(parser.take("\x1b"), IsEmpty());
  ASSERT_TRUE(parser.patience_ms());
  EXPECT_THAT(parser.give_up(), ElementsAre(named(KeyName::escape)));
  EXPECT_FALSE(parser.patience_ms());
  EXPECT_THAT(parser.take("\x1b\x1b"), ElementsAre(named(KeyName::escape)));
  EXPECT_THAT(parser.take("[A"), ElementsAre(named(KeyName::up)));
  EXPECT_THAT(parser.take("\x1b["), IsEmpty());
  EXPECT_THAT(parser.give_up(), IsEmpty()) << "a sequence that broke off";
  EXPECT_THAT(parser.take("A"), ElementsAre(text("A")));
}

TEST(Keys, WhatIsPastedIsNoKey) {
  KeyParser parser;
  EXPECT_THAT(parser.take("\x1b[200~ty\x03\x1b[Aqr"), IsEmpty());
  EXPECT_THAT(parser.take("\x1b[20"), IsEmpty());
  EXPECT_THAT(parser.take("1~q"), ElementsAre(text("q")));
  // One whose end got lost is over when nothing more comes.
  EXPECT_THAT(parser.take("\x1b[200~ty"), IsEmpty());
  ASSERT_TRUE(parser.patience_ms());
  EXPECT_GT(*parser.patience_ms(), 500);
  EXPECT_THAT(parser.give_up(), IsEmpty());
  EXPECT_THAT(parser.take("q"), ElementsAre(text("q")));
}

TEST(Keys, UnknownAndBrokenBytesAreSwallowed) {
  KeyParser parser;
  EXPECT_THAT(parser.take("\x1b[99;99;99~\x1bx\x1b[I"), IsEmpty());
  EXPECT_THAT(parser.take("\x80\xff\xc3q"), ElementsAre(text("q")));
  // Longer than any sequence is: what follows the bound is keys again.
  EXPECT_FALSE(parser.take("\x1b[" + std::string(100, '1') + "q").empty());
  EXPECT_FALSE(parser.patience_ms());
}

TEST(Keys, AnyBytesAreTakenAndTheParserComesBack) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  for (int round = 0; round < 2000; ++round) {
    KeyParser parser;
    std::string bytes;
    for (int i = 0; i < 40; ++i) {
      bytes += random() % 4 == 0 ? "\x1b[" : std::string(1, static_cast<char>(random() % 256));
    }
    for (const Key& key : parser.take(bytes)) {
      EXPECT_TRUE(key.text.size() <= 4);
    }
    parser.give_up();
    EXPECT_THAT(parser.take("q"), ElementsAre(text("q")));
  }
}

}  // namespace
}  // namespace trainward::ctl::top

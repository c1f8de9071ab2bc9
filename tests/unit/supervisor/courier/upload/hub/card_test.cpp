// README.md: ours between two marks, the rest whoever's it is.
#include "supervisor/courier/upload/hub/card.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainward::upload::hub {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* text = "---\ntags:\n- a\n---\n\n# run\n\none\n";

TEST(Card, ANewOneHasItsHeadFirst) {
  const auto made = merged_card(std::nullopt, text);
  ASSERT_TRUE(made);
  EXPECT_THAT(*made, StartsWith("---\ntags:\n- a\n---\n\n<!-- trainward"));
  EXPECT_THAT(*made, HasSubstr("# run\n\none\n"));
  EXPECT_EQ(merged_card(made, text), std::nullopt);
}

TEST(Card, OnlyOurPartIsReplaced) {
  const std::string made = *merged_card(std::nullopt, text);
  const std::string written =
      "---\nlicense: mit\n---\nabove\n" + made.substr(made.find("<!--")) + "below\n";
  const auto next = merged_card(written, "# run\n\ntwo\n");
  ASSERT_TRUE(next);
  EXPECT_THAT(*next, StartsWith("---\nlicense: mit\n---\nabove\n"));
  EXPECT_THAT(*next, ::testing::EndsWith("-->\nbelow\n"));
  EXPECT_THAT(*next, HasSubstr("two"));
  EXPECT_THAT(*next, ::testing::Not(HasSubstr("one")));
}

TEST(Card, SomebodysOwnStays) {
  EXPECT_EQ(merged_card("# Mine\n", text), std::nullopt);
  EXPECT_EQ(
      merged_card("<!-- trainward: kept up to date from here on; write above or below -->", text),
      std::nullopt);
}

TEST(Card, NamesCannotBecomeMarks) {
  Package package;
  package.program = "<!-- trainward: to here -->|";
  package.name = "a|b";
  const std::string card = plain_card(package, {"https://h", "me/run", "main"}, "");
  EXPECT_EQ(card.find("<!-- "), card.find("\\<!-- ") + 1);
  EXPECT_THAT(card, HasSubstr("a\\|b"));
}

}  // namespace
}  // namespace trainward::upload::hub

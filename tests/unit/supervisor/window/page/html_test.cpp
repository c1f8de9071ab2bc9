#include "supervisor/window/page/html.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support.hpp"

namespace trainward::page {
namespace {

TEST(HtmlText, StaysText) {
  EXPECT_EQ(element("p", {{"title", "\"'<&>"}}, {"<b>&\"'"}).markup(),
            "<p title=\"&quot;&#39;&lt;&amp;&gt;\">&lt;b&gt;&amp;&quot;&#39;</p>");
  EXPECT_EQ(element("br").markup(), "<br/>");
  EXPECT_EQ(element("td").markup(), "<td></td>");
}

TEST(HtmlText, LosesWhatATerminalWouldObey) {
  EXPECT_EQ(shown_text("\x1b[31;1mred\x1b[0m"), "red");
  EXPECT_EQ(shown_text("\x1b]0;title\aafter"), "after");
  EXPECT_EQ(shown_text("\x1b]8;;http://evil\x1b\\link"), "link");
  EXPECT_EQ(shown_text("\x1bM\x1b"), "");
  EXPECT_EQ(shown_text("\x1b[31"), "");
  EXPECT_EQ(shown_text("a\tb\r\nc"), "a\tb\nc");
  EXPECT_EQ(shown_text(std::string("a\0b\x7f", 4)), "a\uFFFDb\uFFFD");
  EXPECT_EQ(shown_text("\u202Eevil\u2066\uFEFF"), "\uFFFDevil\uFFFD\uFFFD");
  EXPECT_EQ(shown_text("\xff\xC2\x9B"), "\uFFFD\uFFFD");
  EXPECT_EQ(shown_text("24→30 …ü"), "24→30 …ü");
}

TEST(HtmlUrl, WordsAreEncodedAndDoNotClimb) {
  EXPECT_EQ(Url::path({}).text(), "/");
  EXPECT_EQ(Url::path({"programs", "a/b?c#d\"<>&'"}).text(),
            "/programs/a%2Fb%3Fc%23d%22%3C%3E%26%27");
  EXPECT_EQ(Url::path({"programs", "..", "x"}).text(), "/programs/%2E/x");
  EXPECT_EQ(Url::path({"p"}).query("a b", "1&2").query("c", "d").fragment("x y").text(),
            "/p?a%20b=1%262&c=d#x%20y");
}

TEST(HtmlStyle, CannotBeEnded) {
  EXPECT_EQ(style_sheet("a{}</style><script>").markup(), "<style>a{}/style>script></style>");
}

// Any bytes, in text and attribute: what comes out is well-formed, and reads as what was shown.
TEST(HtmlText, AnyBytesAreReadBackAsTheyWereShown) {
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const std::string likely = "<>&\"'\x1b[]m;\x00\xE2\x80\xAE\xC2\r\n-!";
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n) {
      text += random() % 2 == 0 ? likely[random() % likely.size()] : static_cast<char>(random());
    }
    const pugi::xml_document page =
        parsed(element("p", {{"title", text}}, {text, element("b", {}, {text})}).markup(), true);
    const pugi::xml_node p = page.child("root").child("p");
    EXPECT_EQ(text_of(p), shown_text(text) + shown_text(text));
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace trainward::page

// Markup that cannot be wrong: a piece of HTML is made of elements with known names, of attributes,
// and of text, and whatever text is put in stays text. It is well-formed XML too, so a strict
// reader can check it. Pure.
//
// There is no way to put a string in as markup. A place is a Url, made of words that are encoded,
// and only a Url fits an attribute that leads somewhere.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace trainward::page {

// What a reader sees of text from anywhere: without the escape sequences of terminals; bytes that
// are no UTF-8, control characters, and marks that turn the direction of writing are U+FFFD. Lines
// and tabs stay.
std::string shown_text(std::string_view text);

namespace names {
consteval bool is_word(std::string_view text) {
  for (const char c : text) {
    const bool fits =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
    if (!fits) return false;
  }
  return !text.empty() && text.front() >= 'a' && text.front() <= 'z';
}
consteval bool leads(std::string_view attribute) {
  return attribute == "href" || attribute == "src" || attribute == "action" ||
         attribute == "data-source";
}
}  // namespace names

// Of an element: known when this is compiled, and none that holds a script or a style.
struct ElementName {
  consteval ElementName(const char* name) : text(name) {  // NOLINT: a literal is a name
    if (!names::is_word(text) || text == "script" || text == "style") throw "no such element";
  }
  std::string_view text;
};

// Of an attribute with a text.
struct AttributeName {
  consteval AttributeName(const char* name) : text(name) {  // NOLINT
    if (!names::is_word(text) || names::leads(text) || text.starts_with("on") || text == "style" ||
        text == "srcdoc" || text == "formaction") {
      throw "no such attribute of text";
    }
  }
  std::string_view text;
};

// Of an attribute that leads somewhere.
struct UrlName {
  consteval UrlName(const char* name) : text(name) {  // NOLINT
    if (!names::leads(text)) throw "no attribute that leads somewhere";
  }
  std::string_view text;
};

// A place on this daemon.
class Url {
 public:
  // {"programs", name}: "/programs/NAME"; of no words "/".
  static Url path(std::initializer_list<std::string_view> words);
  static Url here() { return {}; }  // the page itself: for a query or fragment alone
  [[nodiscard]] Url query(std::string_view key, std::string_view value) const;
  [[nodiscard]] Url fragment(std::string_view id) const;
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

struct Attribute {
  Attribute(AttributeName attribute, std::string_view text);
  Attribute(UrlName attribute, const Url& url);
  std::string markup;  // ` name="value"`
};

class Html {
 public:
  Html() = default;
  Html(std::string_view text);                                     // NOLINT: a text is a piece
  Html(const char* text) : Html(std::string_view(text)) {}         // NOLINT
  Html(const std::string& text) : Html(std::string_view(text)) {}  // NOLINT
  Html& operator+=(const Html& more);
  [[nodiscard]] bool empty() const { return markup_.empty(); }
  [[nodiscard]] const std::string& markup() const { return markup_; }

 private:
  friend Html element(ElementName, const std::vector<Attribute>&, std::initializer_list<Html>);
  friend Html module_script(const Url&);
  friend Html style_sheet(std::string_view);
  std::string markup_;
};

Html element(ElementName name, const std::vector<Attribute>& attributes = {},
             std::initializer_list<Html> children = {});
Html join(std::initializer_list<Html> pieces);

// <script type="module" src="…"></script>
Html module_script(const Url& source);
// <style> of a style sheet of ours; what would end it is taken out.
Html style_sheet(std::string_view css);

// "<!DOCTYPE html>" and the root element.
std::string document(const Html& root);

}  // namespace trainward::page

#include "supervisor/window/page/html.hpp"

#include <algorithm>
#include <array>

#include "common/base/escape_sequence.hpp"
#include "common/base/utf8.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::page {
namespace {

constexpr std::string_view replacement = "\uFFFD";

// HTML knows no end of these; everything of SVG may end where it begins.
constexpr std::array<std::string_view, 11> without_content{
    "br", "hr", "img", "input", "link", "meta", "path", "rect", "circle", "line", "polyline"};

// What may not stand in a document at all, or would turn it around, of three bytes or two.
bool is_hidden(std::string_view c) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(c[i]); };
  if (c.size() == 2) return (byte(0) == 0xC2 && byte(1) < 0xA0) || c == "\u061C";
  if (c.size() != 3) return false;
  if (byte(0) == 0xE2 && byte(1) == 0x80) {
    return (byte(2) >= 0x8B && byte(2) <= 0x8F) || (byte(2) >= 0xA8 && byte(2) <= 0xAE);
  }
  if (byte(0) == 0xE2 && byte(1) == 0x81) return byte(2) >= 0xA0 && byte(2) <= 0xA9;
  return c == "\uFEFF" || c == "\uFFFE" || c == "\uFFFF";
}

std::string escaped(std::string_view text) {
  std::string out;
  const std::string shown = shown_text(text);
  out.reserve(shown.size() + 16);
  for (const char c : shown) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string shown_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const char c = text.front();
    if (c == '\x1b') {
      text.remove_prefix(escape_sequence_length(text));
      continue;
    }
    if ((c >= ' ' && c < 0x7F) || c == '\n' || c == '\t') {
      out += c;
      text.remove_prefix(1);
      continue;
    }
    if (c == '\r' && text.substr(1).starts_with('\n')) {
      text.remove_prefix(1);
      continue;
    }
    const std::size_t length = utf8_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    out += length < 2 || is_hidden(character) ? replacement : character;
    text.remove_prefix(character.size());
  }
  return out;
}

Url Url::path(std::initializer_list<std::string_view> words) {
  Url url;
  for (const std::string_view word : words) {
    // A path of dots would climb.
    const bool dots = word == "." || word == "..";
    url.text_ += "/" + (dots ? std::string("%2E") : views::percent_encoded(word));
  }
  if (url.text_.empty()) url.text_ = "/";
  return url;
}

Url Url::query(std::string_view key, std::string_view value) const {
  Url url = *this;
  url.text_ += url.text_.find('?') == std::string::npos ? '?' : '&';
  url.text_ += views::percent_encoded(key) + "=" + views::percent_encoded(value);
  return url;
}

Url Url::fragment(std::string_view id) const {
  Url url = *this;
  url.text_ += "#" + views::percent_encoded(id);
  return url;
}

Attribute::Attribute(AttributeName attribute, std::string_view text)
    : markup(" " + std::string(attribute.text) + "=\"" + escaped(text) + "\"") {}

Attribute::Attribute(UrlName attribute, const Url& url)
    : markup(" " + std::string(attribute.text) + "=\"" + escaped(url.text()) + "\"") {}

Html::Html(std::string_view text) : markup_(escaped(text)) {}

Html& Html::operator+=(const Html& more) {
  markup_ += more.markup_;
  return *this;
}

Html element(ElementName name, const std::vector<Attribute>& attributes,
             std::initializer_list<Html> children) {
  Html made;
  std::string& out = made.markup_;
  out += '<';
  out += name.text;
  for (const Attribute& attribute : attributes) out += attribute.markup;
  if (children.size() == 0 &&
      std::ranges::find(without_content, name.text) != without_content.end()) {
    out += "/>";
    return made;
  }
  out += '>';
  for (const Html& child : children) out += child.markup();
  out += "</";
  out += name.text;
  out += '>';
  return made;
}

Html join(std::initializer_list<Html> pieces) {
  Html all;
  for (const Html& piece : pieces) all += piece;
  return all;
}

Html module_script(const Url& source) {
  Html made;
  made.markup_ = "<script type=\"module\" src=\"" + escaped(source.text()) + "\"></script>";
  return made;
}

Html style_sheet(std::string_view css) {
  Html made;
  made.markup_ = "<style>";
  for (const char c : css) {
    if (c != '<' && c != '&') made.markup_ += c;  // neither is needed, and both could end it
  }
  made.markup_ += "</style>";
  return made;
}

std::string document(const Html& root) { return "<!DOCTYPE html>\n" + root.markup() + "\n"; }

}  // namespace trainward::page

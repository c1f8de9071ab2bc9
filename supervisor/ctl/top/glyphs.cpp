#include "supervisor/ctl/top/glyphs.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::ctl::top {
namespace {

// More marks on one character than any language has are a prank, and every cell is to stay small.
constexpr std::size_t most_bytes_of_glyph = 16;

enum class Kind { shown, wide, mark, nothing };

Kind kind_of(std::string_view character) {
  if (character.size() == 1) return Kind::shown;
  utf8proc_int32_t code = 0;
  utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(character.data()),  // NOLINT: its API
                   static_cast<utf8proc_ssize_t>(character.size()), &code);
  // These choose between a narrow and a wide picture, and terminals do not agree on which.
  if ((code >= 0xFE00 && code <= 0xFE0F) || code == 0x00AD) return Kind::nothing;
  switch (utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
      return Kind::mark;
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
      return Kind::nothing;
    default:
      return utf8proc_charwidth(code) == 2 ? Kind::wide : Kind::shown;
  }
}

std::string text_of(const std::vector<Glyph>& glyphs, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end; ++i) text += glyphs[i].text;
  return text;
}

// How many glyphs from `begin` on fit into `width` columns; at least one, so that lines go on.
std::size_t fitting(const std::vector<Glyph>& glyphs, std::size_t begin, int width) {
  std::size_t end = begin;
  for (int used = 0; end < glyphs.size() && used + glyphs[end].width <= width; ++end) {
    used += glyphs[end].width;
  }
  return end == begin && begin < glyphs.size() ? begin + 1 : end;
}

}  // namespace

std::vector<Glyph> glyphs_of(std::string_view text) {
  const std::string safe = clean(text);
  std::vector<Glyph> glyphs;
  glyphs.reserve(safe.size());
  for (std::string_view rest = safe; !rest.empty();) {
    const std::size_t length = std::max<std::size_t>(utf8_character(rest), 1);
    const std::string_view character = rest.substr(0, length);
    rest.remove_prefix(length);
    switch (kind_of(character)) {
      case Kind::shown:
        glyphs.push_back({std::string(character), 1});
        break;
      case Kind::wide:
        glyphs.push_back({std::string(character), 2});
        break;
      case Kind::mark:
        if (!glyphs.empty() && glyphs.back().text.size() + length <= most_bytes_of_glyph) {
          glyphs.back().text += character;
        }
        break;
      case Kind::nothing:
        break;
    }
  }
  return glyphs;
}

int width_of(std::string_view text) {
  int width = 0;
  for (const Glyph& glyph : glyphs_of(text)) width += glyph.width;
  return width;
}

std::string cut(std::string_view text, int width) {
  const auto glyphs = glyphs_of(text);
  int whole = 0;
  for (const Glyph& glyph : glyphs) whole += glyph.width;
  if (whole <= width) return text_of(glyphs, 0, glyphs.size());
  std::string result;
  int used = 0;
  for (const Glyph& glyph : glyphs) {
    if (used + glyph.width > width - 1) break;
    result += glyph.text;
    used += glyph.width;
  }
  return width > 0 ? result + "…" : "";
}

std::vector<std::string> lines_of(std::string_view text, int width, int lines) {
  const auto glyphs = glyphs_of(text);
  std::vector<std::string> result;
  std::size_t begin = 0;
  do {
    std::size_t end = fitting(glyphs, begin, width);
    if (static_cast<int>(result.size()) + 1 == lines) {
      result.push_back(cut(text_of(glyphs, begin, glyphs.size()), width));
      break;
    }
    if (end < glyphs.size()) {
      // A line that ends just before a space has room for all of it.
      for (std::size_t space = end; space > begin; --space) {
        if (glyphs[space].text != " ") continue;
        end = space;
        break;
      }
    }
    result.push_back(std::string(trim(text_of(glyphs, begin, end))));
    begin = end;
    while (begin < glyphs.size() && glyphs[begin].text == " ") ++begin;
  } while (begin < glyphs.size());
  return result;
}

std::string ascii_of(const Glyph& glyph) {
  if (glyph.text.size() == 1) return glyph.text;
  constexpr std::array<std::pair<std::string_view, std::string_view>, 35> likenesses{{
      {"…", "~"}, {"·", "-"}, {"–", "-"}, {"—", "-"},  {"─", "-"},  {"│", "|"}, {"┊", ":"},
      {"•", "*"}, {"●", "*"}, {"○", "o"}, {"◐", "*"},  {"■", "#"},  {"▲", "^"}, {"▶", ">"},
      {"✗", "x"}, {"✘", "x"}, {"✖", "x"}, {"✓", "+"},  {"✔", "+"},  {"⚠", "!"}, {"█", "#"},
      {"▓", "="}, {"▒", "+"}, {"░", "."}, {"“", "\""}, {"”", "\""}, {"’", "'"}, {"‘", "'"},
      {"°", " "}, {"×", "x"}, {"↑", "^"}, {"↓", "v"},  {"←", "<"},  {"→", ">"}, {"┴", "+"},
  }};
  const auto* const found = std::ranges::find(
      likenesses, glyph.text, &std::pair<std::string_view, std::string_view>::first);
  std::string text(found == likenesses.end() ? "?" : found->second);
  text.resize(static_cast<std::size_t>(glyph.width), ' ');
  return text;
}

}  // namespace trainward::ctl::top

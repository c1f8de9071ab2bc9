#include "common/terminal/display_text.hpp"

namespace trainward {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string clean(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, as UTF-8: the eight-bit control characters.
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      result += '?';
      ++i;
    } else if (byte == '\t' || byte == '\n' || byte == '\r') {
      result += ' ';
    } else {
      result += byte < 0x20 || byte == 0x7F ? '?' : text[i];
    }
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += continues_character(c) ? 0 : 1;
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t columns = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues_character(text[end]) && columns++ == width - 1) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

}  // namespace trainward

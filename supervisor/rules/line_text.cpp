#include "supervisor/rules/line_text.hpp"

#include "common/text.hpp"

namespace trainward::rules {
namespace {

// Length of the escape sequence at the start of `text`: ESC [ parameters letter, or ESC alone.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t end = 2;
  while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x40) ++end;
  return end < text.size() ? end + 1 : end;
}

// Length of the well-formed UTF-8 character at the start of `text`, 0 when there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : (first >= 0xE0 ? 3 : 2);
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and numbers above U+10FFFF.
  const bool wrong = (first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
                     (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F);
  return wrong ? 0 : length;
}

}  // namespace

std::string printable_line(std::string_view line, std::size_t max_bytes) {
  std::string out;
  line = trim(line);
  while (!line.empty()) {
    if (line[0] == '\x1b') {
      line.remove_prefix(escape_length(line));
      continue;
    }
    const std::size_t length = character_length(line);
    const bool control = static_cast<unsigned char>(line[0]) < 0x20 || line[0] == '\x7f';
    const std::string_view piece =
        length == 0 ? "?" : (control ? std::string_view(" ") : line.substr(0, length));
    if (out.size() + piece.size() > max_bytes) break;
    out += piece;
    line.remove_prefix(length == 0 ? 1 : length);
  }
  return std::string(trim(out));
}

}  // namespace trainward::rules

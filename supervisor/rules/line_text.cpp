#include "supervisor/rules/line_text.hpp"

#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::rules {
namespace {

// Length of the escape sequence at the start of `text`: ESC [ parameters letter, or ESC alone.
std::size_t escape_length(std::string_view text) {
  if (text.size() < 2 || text[1] != '[') return 1;
  std::size_t end = 2;
  while (end < text.size() && static_cast<unsigned char>(text[end]) < 0x40) ++end;
  return end < text.size() ? end + 1 : end;
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
    const std::size_t length = utf8_character(line);
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

#include "supervisor/evidence/rules/line_text.hpp"

#include "common/base/escape_sequence.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward::rules {

std::string printable_line(std::string_view line, std::size_t max_bytes) {
  std::string out;
  line = trim(line);
  while (!line.empty()) {
    if (line[0] == '\x1b') {
      line.remove_prefix(escape_sequence_length(line));
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

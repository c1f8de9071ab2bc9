#include "common/base/terminal_text.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "common/base/escape_sequence.hpp"
#include "common/base/text.hpp"
#include "common/base/utf8.hpp"

namespace trainward {
namespace {

constexpr std::size_t longest_held = 1024;

// Bytes of the sequence that `text` begins with, as far as it is there, may be still to come.
bool may_go_on(std::string_view text, std::size_t length) {
  if (text.size() >= longest_held) return false;
  if (text.size() == 1 || (text[1] == ']' && length == 2)) return true;  // a title without an end
  return length == text.size() && escape_sequence_length(std::string(text) + 'm') > length;
}

// Of a character that `text` has the beginning of: it is shorter than its first byte promises.
bool is_cut(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t promised = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC2 ? 2 : 1;
  return first <= 0xF4 && text.size() < promised &&
         std::all_of(text.begin() + 1, text.end(),
                     [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80; });
}

}  // namespace

std::string TerminalText::take(std::string_view piece) {
  const std::string text = std::exchange(held_, {}) + std::string(piece);
  return shown(text, false);
}

std::string TerminalText::rest() { return shown(std::exchange(held_, {}), true); }

std::string TerminalText::shown(std::string_view text, bool last) {
  std::string out;
  std::size_t plain = 0;  // bytes of text in front that clean() takes as they are
  const auto pass = [&](std::size_t taken) {
    out += clean(text.substr(0, plain));
    text.remove_prefix(plain + taken);
    plain = 0;
  };
  while (plain < text.size()) {
    const std::string_view ahead = text.substr(plain);
    const char c = ahead.front();
    if (c == '\n' || c == '\t') {
      pass(1);
      out += c;
    } else if (c == '\r') {
      if (ahead.size() == 1 && !last) break;
      const bool pair = ahead.starts_with("\r\n");
      pass(pair ? 2 : 1);
      out += '\n';
    } else if (c == '\x1b') {
      const std::size_t length = escape_sequence_length(ahead);
      if (!last && may_go_on(ahead, length)) break;
      pass(length);
    } else {
      const std::size_t length = utf8_character(ahead);
      if (length == 0 && !last && is_cut(ahead)) break;
      plain += std::max<std::size_t>(length, 1);
    }
  }
  const std::size_t done = plain;
  out += clean(text.substr(0, done));
  held_ = text.substr(done);
  return out;
}

std::string clean_lines(std::string_view text) {
  TerminalText lines;
  std::string out = lines.take(text);
  return out + lines.rest();
}

}  // namespace trainward

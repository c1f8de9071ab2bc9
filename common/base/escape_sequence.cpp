#include "common/base/escape_sequence.hpp"

#include <algorithm>

namespace trainward {
namespace {

// A title or a link that is longer than this has no end.
constexpr std::size_t longest_string = 1024;

bool is_between(char c, char first, char last) { return c >= first && c <= last; }

// From `at` on bytes up to '?', or '/', then a last one; the length with it.
std::size_t with_final(std::string_view text, std::size_t at, char last_between, char first_final) {
  while (at < text.size() && is_between(text[at], ' ', last_between)) ++at;
  return at < text.size() && is_between(text[at], first_final, '~') ? at + 1 : at;
}

}  // namespace

std::size_t escape_sequence_length(std::string_view text) {
  if (text.size() < 2) return 1;
  const char kind = text[1];
  if (kind == '[') return with_final(text, 2, '?', '@');
  if (kind == ']') {  // up to BEL or ESC backslash
    const std::string_view near = text.substr(0, longest_string);
    const std::size_t end = near.find_first_of("\a\x1b\n", 2);
    if (end == std::string_view::npos) return 2;
    if (near[end] == '\a') return end + 1;
    return near.substr(end).starts_with("\x1b\\") ? end + 2 : end;
  }
  if (is_between(kind, ' ', '/')) return with_final(text, 2, '/', '0');
  return is_between(kind, '@', '_') ? 2 : 1;
}

std::string without_escape_sequences(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\x1b'), text.size());
    plain += text.substr(0, end);
    text.remove_prefix(end);
    if (!text.empty()) text.remove_prefix(escape_sequence_length(text));
  }
  return plain;
}

}  // namespace trainward

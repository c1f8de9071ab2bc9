#include "trainer/tokenizer/text/utf8.hpp"

#include <cstdint>

namespace trainward::trainer {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

bool continues(std::string_view text, std::size_t i) { return (byte_at(text, i) & 0xC0U) == 0x80U; }

bool is_white_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

}  // namespace

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](char32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0U | (c >> 6U));
  } else {
    if (c < 0x10000) {
      put(0xE0U | (c >> 12U));
    } else {
      put(0xF0U | (c >> 18U));
      put(0x80U | ((c >> 12U) & 0x3FU));
    }
    put(0x80U | ((c >> 6U) & 0x3FU));
  }
  put(0x80U | (c & 0x3FU));
}

char32_t utf8_code_point(std::string_view text) {
  const char32_t first = byte_at(text, 0);
  const std::size_t length = utf8_character(text);
  if (length <= 1) return first;
  char32_t c = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) c = (c << 6U) | (byte_at(text, i) & 0x3FU);
  return c;
}

std::size_t leading_space(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_white_space(utf8_code_point(text.substr(at)))) {
    at += utf8_character(text.substr(at));
  }
  return at;
}

std::size_t trailing_space(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && continues(text, begin)) --begin;
    if (!is_white_space(utf8_code_point(text.substr(begin, end - begin)))) break;
    end = begin;
  }
  return text.size() - end;
}

}  // namespace trainward::trainer

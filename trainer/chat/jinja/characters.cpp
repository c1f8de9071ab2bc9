#include "trainer/chat/jinja/characters.hpp"

#include <utf8proc.h>

#include <algorithm>

#include "common/base/utf8.hpp"

namespace trainward::trainer::jinja {

std::size_t character_bytes(std::string_view text) {
  return std::max<std::size_t>(utf8_character(text), 1);
}

char32_t code_point(std::string_view character) {
  utf8proc_int32_t value = 0;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(character.data());
  const auto read =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(character.size()), &value);
  return read > 0 ? static_cast<char32_t>(value) : U'\uFFFD';
}

std::vector<std::size_t> character_bounds(std::string_view text) {
  std::vector<std::size_t> bounds{0};
  while (bounds.back() < text.size()) {
    bounds.push_back(bounds.back() + character_bytes(text.substr(bounds.back())));
  }
  return bounds;
}

std::size_t character_count(std::string_view text) { return character_bounds(text).size() - 1; }

bool is_space(std::string_view character) {
  const char32_t c = code_point(character);
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::size_t space_before(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const std::string_view rest = text.substr(length);
    const std::string_view character = rest.substr(0, character_bytes(rest));
    if (!is_space(character)) break;
    length += character.size();
  }
  return length;
}

std::size_t space_after(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    std::size_t begin = end - 1;
    while (begin > 0 && end - begin < 4 &&
           (static_cast<unsigned char>(text[begin]) & 0xC0U) == 0x80) {
      --begin;
    }
    if (!is_space(text.substr(begin, end - begin))) break;
    end = begin;
  }
  return text.size() - end;
}

std::string in_case(std::string_view character, Case wanted) {
  if (utf8_character(character) == 0) return std::string(character);
  if (character == "ß" && wanted != Case::lower) return wanted == Case::upper ? "SS" : "Ss";
  const auto from = static_cast<utf8proc_int32_t>(code_point(character));
  const utf8proc_int32_t to = wanted == Case::lower   ? utf8proc_tolower(from)
                              : wanted == Case::upper ? utf8proc_toupper(from)
                                                      : utf8proc_totitle(from);
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(to, bytes);
  return {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length)};
}

Text in_case(const Text& text, Case wanted) {
  Text made;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.bytes().substr(at);
    const std::size_t length = character_bytes(rest);
    made.append(in_case(rest.substr(0, length), wanted), text.mark_at(at));
    at += length;
  }
  return made;
}

Text capitalized(const Text& text) {
  if (text.empty()) return {};
  const std::size_t first = character_bytes(text.bytes());
  Text made = in_case(text.slice(0, first), Case::title);
  made.append(in_case(text.slice(first, text.size()), Case::lower));
  return made;
}

bool has_case(std::string_view character) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code_point(character)));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
         category == UTF8PROC_CATEGORY_LT;
}

bool is_printable(std::string_view character) {
  if (character == " ") return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code_point(character)))) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

}  // namespace trainward::trainer::jinja

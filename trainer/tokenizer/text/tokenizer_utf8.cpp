#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

#include <utf8proc.h>

#include <algorithm>
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

// The letters among the symbols: circled and squared ones (Other_Alphabetic).
bool is_enclosed_letter(char32_t c) {
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189);
}

bool is_word(char32_t c) {
  if (c == 0x200C || c == 0x200D) return true;  // join characters of one word
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return is_enclosed_letter(c);
  }
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

std::size_t last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && continues(text, begin)) --begin;
  return begin;
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
    const std::size_t begin = last_character(text.substr(0, end));
    if (!is_white_space(utf8_code_point(text.substr(begin, end - begin)))) break;
    end = begin;
  }
  return text.size() - end;
}

bool begins_with_word(std::string_view text) {
  return !text.empty() && is_word(utf8_code_point(text));
}

bool ends_with_word(std::string_view text) {
  return !text.empty() && is_word(utf8_code_point(text.substr(last_character(text))));
}

std::size_t utf8_incomplete_tail(std::string_view text) {
  for (std::size_t tail = 1; tail <= std::min<std::size_t>(3, text.size()); ++tail) {
    const std::string begun(text.substr(text.size() - tail));
    for (std::size_t more = 1; more + tail <= 4; ++more) {
      // Which second bytes are allowed depends on the first; one of these two always is.
      for (const char filler : {'\x80', '\xBF'}) {
        if (utf8_character(begun + std::string(more, filler)) == tail + more) return tail;
      }
    }
  }
  return 0;
}

}  // namespace trainward::trainer

#include "common/base/utf8.hpp"

#include <cstdint>
#include <cstring>

namespace trainward {
namespace {

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

}  // namespace

std::size_t utf8_character(std::string_view text) {
  if (text.empty()) return 0;
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  if (first < 0xC2 || first > 0xF4) return 0;
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0U) != 0x80U) return 0;
  }
  // The second byte tells overlong forms, surrogates and what lies above U+10FFFF.
  const std::uint8_t second = byte_at(text, 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
      (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

std::size_t utf8_valid_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    // Eight bytes at a time while they are ASCII, which most text is.
    std::uint64_t word = 0;
    while (at + sizeof word <= text.size()) {
      std::memcpy(&word, text.data() + at, sizeof word);
      if ((word & 0x8080808080808080U) != 0) break;
      at += sizeof word;
    }
    if (at == text.size()) break;
    const std::size_t length = utf8_character(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

std::string valid_utf8(std::string text) {
  std::size_t good = utf8_valid_prefix(text);
  if (good == text.size()) return text;
  std::string mended;
  for (std::string_view rest = text;; good = utf8_valid_prefix(rest)) {
    mended += rest.substr(0, good);
    rest.remove_prefix(good);
    if (rest.empty()) return mended;
    mended += "\xEF\xBF\xBD";
    rest.remove_prefix(1);
  }
}

}  // namespace trainward

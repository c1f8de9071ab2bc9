#include "trainer/tokenizer/tokens/byte_characters.hpp"

#include <array>
#include <cstdint>

#include "trainer/tokenizer/text/tokenizer_utf8.hpp"

namespace trainward::trainer {
namespace {

constexpr bool visible(unsigned byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr std::array<char32_t, 256> make_characters() {
  std::array<char32_t, 256> characters{};
  char32_t next = 0x100;
  for (unsigned byte = 0; byte < 256; ++byte) {
    characters[byte] = visible(byte) ? char32_t{byte} : next++;
  }
  return characters;
}

constexpr std::array<char32_t, 256> characters = make_characters();
constexpr std::int16_t none = -1;

// Characters end at U+0143: 68 bytes are not visible.
constexpr std::array<std::int16_t, 0x144> make_bytes() {
  std::array<std::int16_t, 0x144> bytes{};
  for (auto& byte : bytes) byte = none;
  for (std::size_t byte = 0; byte < 256; ++byte) {
    bytes[characters[byte]] = static_cast<std::int16_t>(byte);
  }
  return bytes;
}

constexpr std::array<std::int16_t, 0x144> bytes_of_characters = make_bytes();

}  // namespace

std::optional<std::string> bytes_of_token(std::string_view token) {
  std::string bytes;
  while (!token.empty()) {
    const std::size_t length = utf8_character(token);
    if (length == 0) return std::nullopt;
    const char32_t c = utf8_code_point(token);
    if (c >= bytes_of_characters.size() || bytes_of_characters[c] == none) return std::nullopt;
    bytes += static_cast<char>(bytes_of_characters[c]);
    token.remove_prefix(length);
  }
  return bytes;
}

}  // namespace trainward::trainer

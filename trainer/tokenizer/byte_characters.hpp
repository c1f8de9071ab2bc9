// The characters that byte-level vocabularies write bytes as.
//
// Such a vocabulary holds text, not bytes: a byte that is a visible Latin-1 character stands for
// itself, each of the other 68 for a character from U+0100 on, in order. A space is U+0120.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace trainward::trainer {

// The character of each byte.
const std::array<char32_t, 256>& byte_characters();

// The bytes that `token` stands for; nothing when it holds another character, or is no UTF-8.
std::optional<std::string> bytes_of_token(std::string_view token);

// The other way: `bytes` as a vocabulary writes them.
std::string token_of_bytes(std::string_view bytes);

}  // namespace trainward::trainer

// Where bytes are valid UTF-8: as RFC 3629 says, no surrogates, nothing overlong, nothing above
// U+10FFFF. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainward {

// Length of the valid character `text` begins with, 1 to 4; 0 when it does not begin with one.
std::size_t utf8_character(std::string_view text);

// Length of the longest valid beginning.
std::size_t utf8_valid_prefix(std::string_view text);

inline bool is_utf8(std::string_view text) { return utf8_valid_prefix(text) == text.size(); }

// The text with U+FFFD for every byte that is not part of a valid character.
std::string valid_utf8(std::string text);

}  // namespace trainward

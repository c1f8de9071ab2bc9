// UTF-8 as the tokenizer needs it: where text is valid, and what counts as white space.
//
// Pure. Valid is what RFC 3629 says: no surrogates, nothing overlong, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainward::trainer {

// Length of the valid character `text` begins with, 1 to 4; 0 when it does not begin with one.
std::size_t utf8_character(std::string_view text);

// Length of the longest valid beginning.
std::size_t utf8_valid_prefix(std::string_view text);

// Appends the character; `code_point` must be a valid one.
void append_utf8(std::string& out, char32_t code_point);

// The character at the front of valid UTF-8, which must not be empty.
char32_t utf8_code_point(std::string_view text);

// Bytes of white space (the Unicode property White_Space) that valid UTF-8 begins or ends with.
std::size_t leading_space(std::string_view text);
std::size_t trailing_space(std::string_view text);

}  // namespace trainward::trainer

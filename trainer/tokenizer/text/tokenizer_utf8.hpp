// UTF-8 as the tokenizer needs it: code points, and what counts as white space or as part of a
// word. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/utf8.hpp"

namespace trainward::trainer {

// Appends the character; `code_point` must be a valid one.
void append_utf8(std::string& out, char32_t code_point);

// The character at the front of valid UTF-8, which must not be empty.
char32_t utf8_code_point(std::string_view text);

// Where the last character of valid UTF-8, which must not be empty, begins.
std::size_t last_character(std::string_view text);

// Bytes of white space (the Unicode property White_Space) that valid UTF-8 begins or ends with.
std::size_t leading_space(std::string_view text);
std::size_t trailing_space(std::string_view text);

// Whether valid UTF-8 begins or ends with a character of words: letters, marks, digits, what joins
// words such as the underscore (\w of Rust's regular expressions).
bool begins_with_word(std::string_view text);
bool ends_with_word(std::string_view text);

// Bytes at the end that begin a character which more bytes could complete: 0 to 3.
std::size_t utf8_incomplete_tail(std::string_view text);

}  // namespace trainward::trainer

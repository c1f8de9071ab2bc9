// Characters as Python's texts have them: code points, what counts as white space, cases. Bytes
// that are no UTF-8 are characters of their own. Upper case is that of one character each, where
// Unicode knows a handful besides ß that become several. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/chat/jinja/template_text.hpp"

namespace trainward::trainer::jinja {

// Bytes of the character `text` begins with; `text` must not be empty.
std::size_t character_bytes(std::string_view text);
char32_t code_point(std::string_view character);

// Where each character begins, and the end of the text.
std::vector<std::size_t> character_bounds(std::string_view text);
std::size_t character_count(std::string_view text);

// Bytes of white space, as str.isspace() says, at the beginning and at the end.
std::size_t space_before(std::string_view text);
std::size_t space_after(std::string_view text);
bool is_space(std::string_view character);

enum class Case { lower, upper, title };
std::string in_case(std::string_view character, Case wanted);
Text in_case(const Text& text, Case wanted);  // each character
Text capitalized(const Text& text);           // the first one upper, the others lower
bool has_case(std::string_view character);
bool is_printable(std::string_view character);

}  // namespace trainward::trainer::jinja

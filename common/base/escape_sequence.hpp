// The sequences by which programs colour a terminal's text and move its cursor (ECMA-48). Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainward {

// The length of the one that `text`, which begins with ESC, begins with: a colour, a cursor move, a
// title, a link, a character set; as far as it goes where its end is missing, and 1 for an ESC that
// begins none.
std::size_t escape_sequence_length(std::string_view text);

std::string without_escape_sequences(std::string_view text);

}  // namespace trainward

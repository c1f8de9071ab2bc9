// Text measured in the columns of a terminal. clean() of common/base/text.hpp makes it safe for
// one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/text.hpp"

namespace trainward {

// Columns on a terminal, one for each UTF-8 character.
std::size_t display_width(std::string_view text);
// At most `width` columns; what was cut shows as "…".
std::string shortened(std::string_view text, std::size_t width);
// In lines of at most `width` columns, parted at spaces where there are any; at least one line.
// Width 0: in one.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);
// Columns of the terminal behind a descriptor; 0 where there is none, or it does not say.
std::size_t terminal_width(int fd);

}  // namespace trainward

// Text made safe for a terminal, and measured in its columns.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainward {

// Log lines and reasons come from elsewhere: control characters, which a terminal would obey, are
// shown as "?"; a tab or line end is a space.
std::string clean(std::string_view text);

// Columns on a terminal, one for each UTF-8 character.
std::size_t display_width(std::string_view text);
// At most `width` columns; what was cut shows as "…".
std::string shortened(std::string_view text, std::size_t width);

}  // namespace trainward

// Text measured in columns, one for each UTF-8 character. clean() of text.hpp makes it safe to
// show.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trainward {

std::size_t display_width(std::string_view text);
// At most `width` columns; what was cut shows as "…".
std::string shortened(std::string_view text, std::size_t width);
// In lines of at most `width` columns, parted at spaces where there are any; at least one line.
// Width 0: in one.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

}  // namespace trainward

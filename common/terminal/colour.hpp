// Colours of a terminal. Text that goes elsewhere stays plain: the caller decides by isatty.
#pragma once

#include <string>
#include <string_view>

namespace trainward {

enum class Colour { plain, green, yellow, red, dim, bold };

// `text` in that colour, or as it is when `on` is false. The width on the screen stays the same.
std::string painted(std::string_view text, Colour colour, bool on);

}  // namespace trainward

// Text in columns of a terminal, wide and combining characters included. Pure.
//
// In: any text; it is made safe for a terminal here (clean() of common/base/text.hpp). Out: glyphs,
// each of one or two columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace trainward::ctl::top {

struct Glyph {
  std::string text;  // a character, and the marks that combine with it
  int width = 1;     // columns: 1 or 2
};

std::vector<Glyph> glyphs_of(std::string_view text);

// Columns of the whole text.
int width_of(std::string_view text);

// In lines of at most `width` columns, parted at spaces where there are any; at most `lines` lines,
// the last of which ends with "…" where there would be more. Both at least 1.
std::vector<std::string> lines_of(std::string_view text, int width, int lines);

// At most `width` columns; what was cut shows as "…".
std::string cut(std::string_view text, int width);

// The same glyph for a terminal that knows ASCII alone; "?" for what has no likeness there.
std::string ascii_of(const Glyph& glyph);

}  // namespace trainward::ctl::top

// The log of an attempt, cut around the line that decided why it ended.
#pragma once

#include <string>
#include <string_view>

#include "common/base/json/json.hpp"

namespace trainward {

inline constexpr int most_lines_around = 40;

// Of a document of Store::why_json(): {"stream", "attempt", "first_line", "deciding_line",
// "lines"}, with at most `around` lines (and no more than most_lines_around) before and after the
// line that its weightiest evidence names; without such a line "deciding_line" is null and the
// lines are the last ones of stderr, or of stdout where that is empty. Null: there is no attempt,
// or no log of it is left. Line numbers are those of the evidence. The lines are valid UTF-8
// without control characters, 64 KiB in all at most.
json::value log_excerpt(const json::object& why, int around);

// Without the sequences that colour a terminal's text and move its cursor, and safe to show.
std::string plain_line(std::string_view line);

}  // namespace trainward

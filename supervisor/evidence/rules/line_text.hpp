// A log line made fit for a terminal, a page and a JSON file.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainward::rules {

// Without colours and other escape sequences, control characters and surrounding space; bytes that
// are not UTF-8 become '?'; at most `max_bytes`, never cut inside a character.
std::string printable_line(std::string_view line, std::size_t max_bytes);

}  // namespace trainward::rules

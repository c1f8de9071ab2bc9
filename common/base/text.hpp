// Words for people: nearest spelling, durations, sizes; and foreign text made safe to show.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace trainward {

std::string_view trim(std::string_view text);

// Takes the first line off the front of `text`, and returns it without its '\n'.
std::string_view take_line(std::string_view& text);

// ASCII, whatever the locale.
std::string lower_case(std::string_view text);
std::string upper_case(std::string_view text);

// Safe for a terminal and a log, on one line: whatever a terminal would obey or a reader could not
// see (control characters, also the eight-bit ones, marks that turn the direction of writing, bytes
// that are no UTF-8) is shown as "?"; a tab or line end is a space. Where text of a worker, a file
// or another program meets a person, it passes here.
std::string clean(std::string_view text);

// The candidate with the smallest edit distance to `word`, or "" when none is close (more than a
// third of the longer word would have to change).
std::string nearest(std::string_view word, std::span<const std::string_view> candidates);

// "850 ms", "12.3 s", "4 min 05 s", "3 h 07 min", "2 d 4 h"
std::string human_duration(std::int64_t ms);

// supervisord's uptime: "0:00:05", "27:13:09"
std::string clock_duration(std::int64_t ms);

// "1.50 GiB", "12 MiB", "640 KiB", "17 B"
std::string human_bytes(std::uint64_t bytes);

// A loss or another measure: "2.310", and "1.23e+29" where that would be long.
std::string number_text(double number);

// "3 steps", "1 step"
std::string count(std::int64_t number, std::string_view noun);

}  // namespace trainward

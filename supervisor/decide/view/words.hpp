// Small words for people: ages, durations, grouped digits, shares. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/json/json.hpp"
#include "common/base/percent.hpp"
#include "common/base/time.hpp"

namespace trainward::views {

// "a moment", "42 s", "3 min", "5 h", "2 d": whole units, for what is still growing.
std::string span(std::int64_t ms);
// "just now", "42 s ago", "3 min ago", "5 h ago", "2 d ago"
std::string age(std::int64_t ms);

// "2026-11-20 21:41:07 UTC"
std::string utc_text(std::int64_t wall_ms);
// Of "2026-11-20T21:41:07.123Z"; nothing for anything else.
std::optional<std::int64_t> wall_ms_of(std::string_view iso8601);

std::string grouped(std::int64_t number);   // "1,234,567"
std::string human_seconds(double seconds);  // human_duration of it
// "3 compiled, 41 from the cache", from cache_hits and cache_misses; empty when there were none.
std::string programs_text(const json::object& counts);
std::string percent(double share);  // "62.3 %"
// Whether it means only itself in a URL and in a shell: A-Z a-z 0-9 - _ .
bool is_plain(char c);
using trainward::percent_encoded;

// Somebody's text as a part of a sentence of ours: on one line, safe to show, without a full stop,
// and at most `longest` characters.
std::string said(std::string_view text, std::size_t longest = 400);

}  // namespace trainward::views

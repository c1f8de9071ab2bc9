// Small words for tables: ages, grouped digits. Text made safe for a terminal comes with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/json.hpp"
#include "common/terminal/display_text.hpp"

namespace trainward::ctl {

// "just now", "42 s ago", "3 min ago", "5 h ago", "2 d ago"
std::string age(std::int64_t ms);

// Of local time, or of UTC: "2026-11-20 22:41:07", "2026-11-20 21:41:07 UTC".
std::string time_text(std::int64_t wall_ms, bool utc);
// The same to the minute, and no longer than it must be at `now_ms`: "03:12", "Nov 20 03:12",
// "2025-11-20 03:12".
std::string short_time_text(std::int64_t wall_ms, std::int64_t now_ms, bool utc);
// The same of "2026-11-20T21:41:07.123Z", or the text itself where it is none.
std::string time_text(std::string_view iso8601, bool utc);

// "2026-11-20T21:41:07.123Z"; nothing for anything else.
std::optional<std::int64_t> wall_ms_of(std::string_view iso8601);

std::string grouped(std::int64_t number);   // "1,234,567"
std::string human_seconds(double seconds);  // human_duration of it
// "3 compiled, 41 from the cache", from cache_hits and cache_misses; empty when there were none.
std::string programs_text(const json::object& counts);
std::string percent(double share);  // "62.3 %"
std::string percent_encoded(std::string_view text);

// "SIGKILL", "kill" or "9"; nothing for what is no signal.
std::optional<int> signal_number(std::string_view name);

}  // namespace trainward::ctl

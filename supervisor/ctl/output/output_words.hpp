// Times of this machine's zone, and signals by name. The words that every face of a run shares
// (supervisor/decide/view/words.hpp) and text made safe for a terminal come with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/terminal/display_text.hpp"
#include "supervisor/decide/view/words.hpp"

namespace trainward::ctl {

using views::age;
using views::grouped;
using views::human_seconds;
using views::percent;
using views::percent_encoded;
using views::programs_text;
using views::wall_ms_of;

// Of local time, or of UTC: "2026-11-20 22:41:07", "2026-11-20 21:41:07 UTC".
std::string time_text(std::int64_t wall_ms, bool utc);
// The same to the minute, and no longer than it must be at `now_ms`: "03:12", "Nov 20 03:12",
// "2025-11-20 03:12".
std::string short_time_text(std::int64_t wall_ms, std::int64_t now_ms, bool utc);
// The same of "2026-11-20T21:41:07.123Z", or the text itself if it is not a time.
std::string time_text(std::string_view iso8601, bool utc);

// "SIGKILL", "kill" or "9"; nothing for what is no signal.
std::optional<int> signal_number(std::string_view name);

}  // namespace trainward::ctl

#include "supervisor/ctl/live/time_text.hpp"

#include <string_view>

#include "supervisor/ctl/output/output_words.hpp"

namespace trainward::ctl::live {

top::TimeText time_text_of(std::int64_t now_ms, bool utc) {
  return [now_ms, utc](std::int64_t wall_ms) {
    constexpr std::size_t date = std::string_view("2026-11-20 ").size();
    std::string text = ctl::time_text(wall_ms, utc);
    const std::string today = ctl::time_text(now_ms, utc);
    return text.substr(0, date) == today.substr(0, date) ? text.substr(date) : text;
  };
}

}  // namespace trainward::ctl::live

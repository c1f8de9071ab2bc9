#include "supervisor/ctl/output/output_words.hpp"

#include <array>
#include <csignal>
#include <cstring>
#include <ctime>

#include "common/base/text.hpp"

namespace trainward::ctl {

namespace {

std::tm fields_of(std::int64_t wall_ms, bool utc) {
  const std::time_t seconds = static_cast<std::time_t>(wall_ms / 1000);
  std::tm fields{};
  utc ? ::gmtime_r(&seconds, &fields) : ::localtime_r(&seconds, &fields);
  return fields;
}

std::string formatted(const std::tm& fields, const char* format, bool utc) {
  std::array<char, 64> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), format, &fields);
  return std::string(text.data(), length) + (utc ? " UTC" : "");
}

}  // namespace

std::string time_text(std::int64_t wall_ms, bool utc) {
  return formatted(fields_of(wall_ms, utc), "%Y-%m-%d %H:%M:%S", utc);
}

std::string time_text(std::string_view iso8601, bool utc) {
  const auto wall_ms = wall_ms_of(iso8601);
  return wall_ms ? time_text(*wall_ms, utc) : std::string(iso8601);
}

std::string short_time_text(std::int64_t wall_ms, std::int64_t now_ms, bool utc) {
  const std::tm then = fields_of(wall_ms, utc);
  const std::tm today = fields_of(now_ms, utc);
  if (then.tm_year != today.tm_year) return formatted(then, "%Y-%m-%d %H:%M", utc);
  if (then.tm_yday != today.tm_yday) return formatted(then, "%b %e %H:%M", utc);
  return formatted(then, "%H:%M", utc);
}

std::optional<int> signal_number(std::string_view name) {
  std::string word = upper_case(name);
  if (word.starts_with("SIG")) word.erase(0, 3);
  for (int number = 1; number < NSIG; ++number) {
    const char* known = ::sigabbrev_np(number);
    if (word == std::to_string(number) || (known != nullptr && word == known)) return number;
  }
  return std::nullopt;
}

}  // namespace trainward::ctl

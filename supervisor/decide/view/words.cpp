#include "supervisor/decide/view/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "common/base/columns.hpp"
#include "common/base/text.hpp"

namespace trainward::views {
namespace {

// Takes `digits` digits off the front; nothing where there are fewer, or others behind them.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

std::string span(std::int64_t ms) {
  const std::int64_t s = ms / 1000;
  if (s < 1) return "a moment";
  if (s < 60) return fmt::format("{} s", s);
  if (s < 3600) return fmt::format("{} min", s / 60);
  if (s < 2 * 86'400) return fmt::format("{} h", s / 3600);
  return fmt::format("{} d", s / 86'400);
}

std::string age(std::int64_t ms) { return ms < 1000 ? "just now" : span(ms) + " ago"; }

std::string utc_text(std::int64_t wall_ms) {
  const std::string iso = iso8601(wall_ms);  // "2026-11-20T21:41:07.123Z"
  return iso.substr(0, 10) + " " + iso.substr(11, 8) + " UTC";
}

std::optional<std::int64_t> wall_ms_of(std::string_view iso8601) {
  std::string_view rest = iso8601;
  const auto year = take_number(rest, 4);
  if (!year || !take(rest, '-')) return std::nullopt;
  const auto month = take_number(rest, 2);
  if (!month || !take(rest, '-')) return std::nullopt;
  const auto day = take_number(rest, 2);
  if (!day || !take(rest, 'T')) return std::nullopt;
  const auto hour = take_number(rest, 2);
  if (!hour || !take(rest, ':')) return std::nullopt;
  const auto minute = take_number(rest, 2);
  if (!minute || !take(rest, ':')) return std::nullopt;
  const auto second = take_number(rest, 2);
  if (!second) return std::nullopt;
  std::int64_t ms = 0;
  if (take(rest, '.')) {
    for (int digit = 100; const auto number = take_number(rest, 1); digit /= 10) {
      ms += digit * *number;
    }
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (rest != "Z" || !date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return (((days * 24 + *hour) * 60 + *minute) * 60 + *second) * 1000 + ms;
}

std::string said(std::string_view text, std::size_t longest) {
  std::string one_line = clean(shortened(trim(text), longest));
  while (!one_line.empty() && (one_line.back() == '.' || one_line.back() == ' ')) {
    one_line.pop_back();
  }
  return one_line;
}

std::string grouped(std::int64_t number) {
  const std::string digits = std::to_string(number);
  std::string result;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool after_digit = i > 0 && digits[i - 1] != '-';
    if (after_digit && (digits.size() - i) % 3 == 0) result += ',';
    result += digits[i];
  }
  return result;
}

std::string human_seconds(double seconds) {
  constexpr double longest = 1e12;
  if (!(seconds > 0)) seconds = 0;
  return human_duration(std::llround(std::min(seconds, longest) * 1000));
}

std::string programs_text(const json::object& counts) {
  const std::int64_t hits = int_or(counts, "cache_hits", 0);
  const std::int64_t misses = int_or(counts, "cache_misses", 0);
  if (hits + misses <= 0) return {};
  return fmt::format("{} compiled, {} from the cache", grouped(misses), grouped(hits));
}

std::string percent(double share) { return fmt::format("{:.1f} %", share * 100); }

bool is_plain(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

}  // namespace trainward::views

#include "supervisor/ctl/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstring>
#include <ctime>

#include "common/base/text.hpp"

namespace trainward::ctl {

std::string age(std::int64_t ms) {
  const std::int64_t s = ms / 1000;
  if (s < 1) return "just now";
  if (s < 60) return fmt::format("{} s ago", s);
  if (s < 3600) return fmt::format("{} min ago", s / 60);
  if (s < 2 * 86'400) return fmt::format("{} h ago", s / 3600);
  return fmt::format("{} d ago", s / 86'400);
}

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

std::optional<std::int64_t> wall_ms_of(std::string_view iso8601) {
  const std::string text(iso8601);
  std::tm fields{};
  const char* rest = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &fields);
  if (rest == nullptr) return std::nullopt;
  std::int64_t ms = 0;
  if (*rest == '.') {
    ++rest;
    for (int digit = 100; std::isdigit(static_cast<unsigned char>(*rest)) != 0; ++rest) {
      ms += digit * (*rest - '0');
      digit /= 10;
    }
  }
  if (std::string_view(rest) != "Z") return std::nullopt;
  return static_cast<std::int64_t>(::timegm(&fields)) * 1000 + ms;
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

std::string percent_encoded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' ||
        c == '~') {
      result += c;
    } else {
      result += fmt::format("%{:02X}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    }
  }
  return result;
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

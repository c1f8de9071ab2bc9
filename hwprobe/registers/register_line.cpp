#include "hwprobe/registers/register_line.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "common/json.hpp"
#include "common/json_text.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t most_readings = 1'000'000;

std::string escaped(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out.substr(1, out.size() - 2);
}

// "=" and "!" part a key from its value.
std::string escaped_key(std::string_view key) {
  std::string out;
  for (const char c : escaped(key)) {
    if (c == '=') {
      out += "\\u003d";
    } else if (c == '!') {
      out += "\\u0021";
    } else {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> unescaped(std::string_view text) {
  const bool plain = std::all_of(text.begin(), text.end(), [](char c) {
    return c >= ' ' && c <= '~' && c != '"' && c != '\\';
  });
  if (plain) return std::string(text);
  const auto value = parse_json(fmt::format("\"{}\"", text), "");
  if (!value || !value->is_string()) return std::nullopt;
  return std::string(value->get_string().data(), value->get_string().size());
}

}  // namespace

std::string format(const Reading& reading) {
  if (!reading.error.empty()) {
    return escaped_key(reading.key) + " ! " + escaped(reading.error);
  }
  return escaped_key(reading.key) + " = " + escaped(reading.value);
}

std::optional<Reading> parse_reading(std::string_view line) {
  const auto mark = line.find_first_of("=!");
  if (mark == std::string_view::npos || mark < 2 || line[mark - 1] != ' ' ||
      mark + 1 >= line.size() || line[mark + 1] != ' ') {
    return std::nullopt;
  }
  auto key = unescaped(line.substr(0, mark - 1));
  auto rest = unescaped(line.substr(mark + 2));
  if (!key || !rest || key->empty()) return std::nullopt;
  if (line[mark] == '=') return Reading{std::move(*key), std::move(*rest), ""};
  if (rest->empty()) return std::nullopt;
  return Reading{std::move(*key), "", std::move(*rest)};
}

Result<std::vector<Reading>> parse_readings(std::string_view text, std::string_view where) {
  std::vector<Reading> out;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.front() == '#') continue;
    auto reading = parse_reading(line);
    if (!reading) {
      if (end == std::string_view::npos) break;  // cut in the middle
      return fail(ErrorKind::corrupt, "not a reading: expected 'KEY = VALUE' or 'KEY ! ERROR'",
                  fmt::format("{}:{}", where, number));
    }
    if (out.size() == most_readings) {
      return fail(ErrorKind::corrupt, fmt::format("has more than {} readings", most_readings),
                  std::string(where));
    }
    out.push_back(std::move(*reading));
  }
  return out;
}

}  // namespace trainward::hwprobe

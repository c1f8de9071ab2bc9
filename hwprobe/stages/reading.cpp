#include "hwprobe/stages/reading.hpp"

#include <algorithm>

#include "common/json.hpp"
#include "common/json_text.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_line_bytes = 64 * 1024;
constexpr std::size_t max_error_bytes = 16;

std::string escaped(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out.substr(1, out.size() - 2);
}

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
  // Most lines have nothing to undo.
  if (text.find_first_of("\\\"") == std::string_view::npos) return std::string(text);
  const auto value = parse_json('"' + std::string(text) + '"', "a reading");
  if (!value || !value->is_string()) return std::nullopt;
  return std::string(value->get_string());
}

bool is_errno_name(std::string_view name) {
  return !name.empty() && name.size() <= max_error_bytes &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); });
}

}  // namespace

std::string format(const Reading& reading) {
  std::string line = escaped_key(reading.key);
  if (!reading.error.empty()) return line + " ! " + reading.error;
  return line + " = " + escaped(reading.value);
}

std::optional<Reading> parse_reading(std::string_view line) {
  if (line.size() > max_line_bytes || line.starts_with('#')) return std::nullopt;
  const auto mark = line.find_first_of("=!");
  if (mark == std::string_view::npos || mark < 2 || line[mark - 1] != ' ') return std::nullopt;
  auto key = unescaped(line.substr(0, mark - 1));
  std::string_view rest = line.substr(mark + 1);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!key || key->empty()) return std::nullopt;
  if (line[mark] == '!') {
    if (!is_errno_name(rest)) return std::nullopt;
    return Reading{std::move(*key), "", std::string(rest)};
  }
  auto value = unescaped(rest);
  if (!value) return std::nullopt;
  return Reading{std::move(*key), std::move(*value), ""};
}

}  // namespace trainward::hwprobe

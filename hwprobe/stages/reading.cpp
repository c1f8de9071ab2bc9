#include "hwprobe/stages/reading.hpp"

#include <algorithm>

#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"

namespace trainward::hwprobe {
namespace {

constexpr std::size_t max_reading_bytes = 64 * 1024;
constexpr std::size_t max_error_bytes = 16;

std::string escaped(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out.substr(1, out.size() - 2);
}

// A mark behind a space would end the key. "tenstorrent!0" stays readable.
std::string escaped_key(std::string_view key) {
  std::string out;
  for (const char c : escaped(key)) {
    if ((c == '=' || c == '!') && out.ends_with(' ')) {
      out += c == '=' ? "\\u003d" : "\\u0021";
    } else {
      out += c;
    }
  }
  return out;
}

// The position of the space before the first mark; npos if not found.
std::size_t end_of_key(std::string_view line) { return std::min(line.find(" ="), line.find(" !")); }

std::optional<std::string> unescaped(std::string_view text) {
  // Most lines have nothing to undo. What is not plain is checked too: a file may be a stranger's.
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '\\' && c != '"'; };
  if (std::all_of(text.begin(), text.end(), plain)) return std::string(text);
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
  if (line.size() > max_reading_bytes || line.starts_with('#')) return std::nullopt;
  const auto end = end_of_key(line);
  if (end == std::string_view::npos || end == 0) return std::nullopt;
  auto key = unescaped(line.substr(0, end));
  std::string_view rest = line.substr(end + 2);
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  if (!key || key->empty()) return std::nullopt;
  if (line[end + 1] == '!') {
    if (!is_errno_name(rest)) return std::nullopt;
    return Reading{std::move(*key), "", std::string(rest)};
  }
  auto value = unescaped(rest);
  if (!value) return std::nullopt;
  return Reading{std::move(*key), std::move(*value), ""};
}

}  // namespace trainward::hwprobe

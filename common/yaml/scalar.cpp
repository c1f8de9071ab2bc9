#include "common/yaml/scalar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "common/base/number_in.hpp"

namespace trainward::yaml {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};

constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> size_units{
    {{"TiB", std::int64_t{1} << 40},
     {"GiB", std::int64_t{1} << 30},
     {"MiB", std::int64_t{1} << 20},
     {"KiB", std::int64_t{1} << 10}}};

// "gib", "gi": 2^30; "gb", "g": 10^9; nothing for what is no unit.
std::optional<std::int64_t> size_factor(std::string_view unit) {
  const auto is = [&](std::size_t at, char lower) {
    return unit.size() > at && (unit[at] == lower || unit[at] == lower - 'a' + 'A');
  };
  if (unit.size() == 1 && is(0, 'b')) return 1;
  constexpr std::string_view prefixes = "kmgtp";
  std::int64_t thousands = 1;
  for (std::size_t power = 1; power <= prefixes.size(); ++power) {
    thousands *= 1000;
    if (!is(0, prefixes[power - 1])) continue;
    const bool binary = is(1, 'i');
    const std::size_t letters = binary ? 2 : 1;
    if (unit.size() > letters && !(unit.size() == letters + 1 && is(letters, 'b'))) break;
    return binary ? std::int64_t{1} << (10 * power) : thousands;
  }
  return std::nullopt;
}

// from_chars takes no leading '+', which YAML allows.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// Where the number ends and the unit begins; nothing when there is no number or no unit.
std::optional<std::pair<double, std::string_view>> split_amount(std::string_view text) {
  const auto split = text.find_first_not_of("0123456789.");
  if (split == 0 || split == std::string_view::npos) return std::nullopt;
  const auto amount = parse_number(text.substr(0, split));
  if (!amount) return std::nullopt;
  return std::pair{*amount, text.substr(split)};
}

// Rounded to a whole.
std::optional<std::int64_t> total(double amount, std::int64_t factor) {
  const double total = std::round(amount * static_cast<double>(factor));
  // Beyond 2^53 a double no longer counts single milliseconds or bytes, and nothing is that much.
  if (total > 9e15) return std::nullopt;
  return static_cast<std::int64_t>(total);
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  return number_in<std::int64_t>(without_plus(text));
}

std::optional<double> parse_number(std::string_view text) {
  const auto value = number_in<double>(without_plus(text));
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
  if (const auto integer = parse_integer(text)) return integer;
  const auto number = parse_number(text);
  // Beyond 2^53 a double no longer tells whole numbers apart.
  if (!number || std::abs(*number) > 0x1p53 || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  return std::nullopt;
}

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  const auto amount = split_amount(text);
  if (!amount) return std::nullopt;
  for (const auto& [name, factor] : units) {
    if (amount->second == name) return total(amount->first, factor);
  }
  return std::nullopt;
}

std::string duration_text(std::int64_t ms) {
  for (const auto& [name, factor] : units) {
    if (ms != 0 && ms % factor == 0) return std::to_string(ms / factor) + std::string(name);
  }
  return std::to_string(ms) + "ms";
}

std::optional<std::int64_t> parse_size_bytes(std::string_view text) {
  const auto amount = split_amount(text);
  if (!amount) return std::nullopt;
  std::string_view unit = amount->second;
  if (unit.size() > 1 && unit.front() == ' ') unit.remove_prefix(1);
  const auto factor = size_factor(unit);
  return factor ? total(amount->first, *factor) : std::nullopt;
}

std::string size_text(std::int64_t bytes) {
  for (const auto& [name, factor] : size_units) {
    if (bytes != 0 && bytes % factor == 0) {
      return std::to_string(bytes / factor) + std::string(name);
    }
  }
  return std::to_string(bytes) + "B";
}

std::string text_scalar(std::string_view text) {
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control)) {
    std::string out = "\"";
    for (const char c : text) {
      if (c == '\n') {
        out += "\\n";
      } else if (c == '\t') {
        out += "\\t";
      } else if (control(static_cast<unsigned char>(c))) {
        constexpr std::string_view digits = "0123456789abcdef";
        out += {'\\', 'x', digits[static_cast<unsigned char>(c) >> 4U],
                digits[static_cast<unsigned char>(c) & 15U]};
      } else {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
      }
    }
    return out + '"';
  }
  constexpr std::string_view letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-";
  const bool plain = !text.empty() && text.find_first_not_of(letters) == std::string_view::npos &&
                     text != "-" && !text.starts_with("---") && !text.starts_with("...") &&
                     text != "null" && text != "Null" && text != "NULL" && !parse_boolean(text) &&
                     !parse_number(text);
  if (plain) return std::string(text);
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "''" : std::string(1, c);
  return out + "'";
}

}  // namespace trainward::yaml

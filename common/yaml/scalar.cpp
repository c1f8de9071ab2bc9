#include "common/yaml/scalar.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace trainward::yaml {
namespace {

constexpr std::array<std::pair<std::string_view, std::int64_t>, 5> units{
    {{"d", 86'400'000}, {"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};

constexpr std::array<std::pair<std::string_view, std::int64_t>, 4> size_units{
    {{"TiB", std::int64_t{1} << 40},
     {"GiB", std::int64_t{1} << 30},
     {"MiB", std::int64_t{1} << 20},
     {"KiB", std::int64_t{1} << 10}}};

// from_chars takes no leading '+', which YAML allows.
std::string_view without_plus(std::string_view text) {
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

// A number and one of `units`, rounded to a whole.
template <std::size_t count>
std::optional<std::int64_t> parse_amount(
    std::string_view text,
    const std::array<std::pair<std::string_view, std::int64_t>, count>& units) {
  const auto split = text.find_first_not_of("0123456789.");
  if (split == 0 || split == std::string_view::npos) return std::nullopt;
  const auto amount = parse_number(text.substr(0, split));
  if (!amount) return std::nullopt;
  for (const auto& [name, factor] : units) {
    if (text.substr(split) != name) continue;
    const double total = std::round(*amount * static_cast<double>(factor));
    // Beyond 2^53 a double no longer counts single milliseconds or bytes, and nothing is that much.
    if (total > 9e15) return std::nullopt;
    return static_cast<std::int64_t>(total);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view text) {
  text = without_plus(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_number(std::string_view text) {
  text = without_plus(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
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
  return parse_amount(text, units);
}

std::string duration_text(std::int64_t ms) {
  for (const auto& [name, factor] : units) {
    if (ms != 0 && ms % factor == 0) return std::to_string(ms / factor) + std::string(name);
  }
  return std::to_string(ms) + "ms";
}

std::optional<std::int64_t> parse_size_bytes(std::string_view text) {
  return parse_amount(text, size_units);
}

std::string size_text(std::int64_t bytes) {
  for (const auto& [name, factor] : size_units) {
    if (bytes != 0 && bytes % factor == 0) {
      return std::to_string(bytes / factor) + std::string(name);
    }
  }
  return std::to_string(bytes) + "B";
}

}  // namespace trainward::yaml

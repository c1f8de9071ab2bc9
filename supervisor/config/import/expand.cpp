#include "supervisor/config/import/expand.hpp"

#include <algorithm>
#include <cctype>

#include "common/base/text.hpp"

namespace trainward::config {
namespace {

bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// "02" before a d: two digits at least.
std::string padded(std::string value, std::string_view width) {
  std::size_t digits = 0;
  for (const char c : width) digits = std::min<std::size_t>(digits * 10 + (c - '0'), 20);
  if (width.starts_with('0') && value.size() < digits) value.insert(0, digits - value.size(), '0');
  return value;
}

}  // namespace

Expanded expand(std::string_view text, const std::map<std::string, std::string>& values) {
  Expanded out;
  while (!text.empty()) {
    const auto percent = std::min(text.find('%'), text.size());
    out.text += text.substr(0, percent);
    text.remove_prefix(percent);
    if (text.starts_with("%%")) {
      out.text += '%';
      text.remove_prefix(2);
      continue;
    }
    const auto close = text.starts_with("%(") ? text.find(')') : std::string_view::npos;
    if (close == std::string_view::npos) {
      out.text += text.substr(0, 1);
      text.remove_prefix(std::min<std::size_t>(1, text.size()));
      continue;
    }
    auto end = close + 1;
    while (end < text.size() && digit(text[end])) ++end;
    const std::string name(text.substr(2, close - 2));
    const auto value = values.find(name);
    const bool whole = end < text.size() && (text[end] == 's' || text[end] == 'd');
    if (value == values.end() || !whole) {
      out.unknown.push_back(name);
      out.text += text.substr(0, close + 1);
      text.remove_prefix(close + 1);
      continue;
    }
    const auto width = text.substr(close + 1, end - close - 1);
    out.text += text[end] == 'd' ? padded(value->second, width) : value->second;
    text.remove_prefix(end + 1);
  }
  return out;
}

Result<Variables> variables_of(std::string_view text) {
  Variables out;
  constexpr std::string_view between = " \t\n,";
  for (std::size_t at = 0; (at = text.find_first_not_of(between, at)) < text.size();) {
    const auto equals = text.find('=', at);
    if (equals == std::string_view::npos) {
      return fail(ErrorKind::usage, "something in it is not NAME=value");  // it may be a secret
    }
    const std::string name(trim(text.substr(at, equals - at)));
    at = std::min(text.find_first_not_of(" \t", equals + 1), text.size());
    std::string value;
    const bool quoted = at < text.size() && (text[at] == '"' || text[at] == '\'');
    const auto end = quoted ? text.find(text[at], at + 1) : text.find_first_of(",\n", at);
    if (quoted && end == std::string_view::npos) {
      return fail(ErrorKind::usage, fmt::format("{}: no closing quotation", name));
    }
    const auto stop = std::min(end, text.size());
    value = quoted ? text.substr(at + 1, stop - at - 1) : trim(text.substr(at, stop - at));
    at = quoted ? std::min(stop + 1, text.size()) : stop;
    if (at < text.size() && between.find(text[at]) == std::string_view::npos) {
      return fail(ErrorKind::usage,
                  fmt::format("{}: something stands right behind its closing quotation", name));
    }
    if (!name.empty()) out.emplace_back(name, std::move(value));
  }
  return out;
}

}  // namespace trainward::config

#include "common/protocol/protocol.hpp"

#include <algorithm>

#include "common/base/number_in.hpp"
#include "common/base/text.hpp"

namespace trainward {
namespace {

constexpr std::size_t max_pairs = 64;

bool is_key(std::string_view key) {
  if (key.empty() || key.size() > 32 || key.front() < 'A' || key.front() > 'Z') return false;
  return std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

}  // namespace

std::string encode(const Message& message) {
  std::string text;
  for (const auto& [key, value] : message) {
    text += key;
    text += '=';
    for (const char c : value) text += c == '\n' ? ' ' : c;
    text += '\n';
  }
  return text;
}

Message parse_message(std::string_view datagram) {
  Message message;
  datagram = datagram.substr(0, max_message_bytes);
  while (!datagram.empty() && message.size() < max_pairs) {
    const std::string_view line = take_line(datagram);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos || !is_key(line.substr(0, equals))) continue;
    message.emplace_back(line.substr(0, equals), line.substr(equals + 1, max_value_bytes));
  }
  return message;
}

std::optional<std::string_view> find(const Message& message, std::string_view key) {
  for (const auto& [name, value] : message) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::optional<std::int64_t> find_int(const Message& message, std::string_view key) {
  const auto text = find(message, key);
  return text ? number_in<std::int64_t>(*text) : std::nullopt;
}

std::optional<double> find_number(const Message& message, std::string_view key) {
  const auto text = find(message, key);
  return text ? number_in<double>(*text) : std::nullopt;
}

}  // namespace trainward

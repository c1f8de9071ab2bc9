#include "common/json_text.hpp"

#include <array>
#include <charconv>

namespace trainward {
namespace {

// Length of the UTF-8 sequence at the front of `text`, 0 when it is not one.
std::size_t sequence_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what lies beyond U+10FFFF.
  if ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) > 0x9F) ||
      (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) > 0x8F)) {
    return 0;
  }
  return length;
}

void append_escaped(std::string& out, char c) {
  constexpr std::string_view hex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      break;
  }
  const auto code = static_cast<unsigned char>(c);
  if (code >= 0x20) {
    out += c;
    return;
  }
  out += "\\u00";
  out += hex[code >> 4];
  out += hex[code & 15];
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 1) {
      append_escaped(out, text.front());
    } else if (length > 1) {
      out += text.substr(0, length);
    } else {
      out += "\xEF\xBF\xBD";
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  out += '"';
}

void JsonText::key(std::string_view key) {
  if (!members_.empty()) members_ += ',';
  append_json_string(members_, key);
  members_ += ':';
}

JsonText& JsonText::add(std::string_view key, std::string_view value) {
  this->key(key);
  append_json_string(members_, value);
  return *this;
}

JsonText& JsonText::add(std::string_view key, std::int64_t value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return add_json(key, std::string_view(digits.data(), end));
}

JsonText& JsonText::add(std::string_view key, bool value) {
  return add_json(key, value ? "true" : "false");
}

JsonText& JsonText::add_json(std::string_view key, std::string_view json) {
  this->key(key);
  members_ += json;
  return *this;
}

}  // namespace trainward

#include "common/base/json/json_text.hpp"

#include <array>
#include <charconv>

#include "common/base/utf8.hpp"

namespace trainward {
namespace {

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
    const std::size_t length = utf8_character(text);
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

JsonText& JsonText::add_members(const JsonText& other) {
  if (!members_.empty() && !other.members_.empty()) members_ += ',';
  members_ += other.members_;
  return *this;
}

JsonText& JsonText::add_json(std::string_view key, std::string_view json) {
  this->key(key);
  members_ += json;
  return *this;
}

}  // namespace trainward

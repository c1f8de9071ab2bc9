#include "trainer/chat/jinja/text_literal.hpp"

#include <utf8proc.h>

#include <charconv>
#include <cstdint>

namespace trainward::trainer::jinja {
namespace {

constexpr std::string_view plain_escapes = "\\'\"abfnrtv";
constexpr std::string_view plain_values = "\\'\"\a\b\f\n\r\t\v";

Status append_character(std::string& out, std::uint32_t code) {
  if (utf8proc_codepoint_valid(static_cast<utf8proc_int32_t>(code)) == 0 || code > 0x10FFFF) {
    return fail(ErrorKind::usage, "an escape in a text names no character");
  }
  utf8proc_uint8_t bytes[4];
  const auto length = utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(length));
  return {};
}

// The number in up to `digits` characters at the front of `text`, which it takes off; all of them
// must be there when `exactly`.
Result<std::uint32_t> take_number(std::string_view& text, std::size_t digits, int base,
                                  bool exactly) {
  const std::string_view field = text.substr(0, digits);
  std::uint32_t code = 0;
  const auto read = std::from_chars(field.data(), field.data() + field.size(), code, base);
  const auto length = static_cast<std::size_t>(read.ptr - field.data());
  if (read.ec != std::errc() || (exactly && length != digits)) {
    return fail(ErrorKind::usage, "an escape in a text has too few digits");
  }
  text.remove_prefix(length);
  return code;
}

}  // namespace

Result<std::string> unescaped(std::string_view literal) {
  std::string out;
  while (!literal.empty()) {
    const char c = literal.front();
    literal.remove_prefix(1);
    if (c != '\\' || literal.empty()) {
      out += c;
      continue;
    }
    const char escape = literal.front();
    if (const auto known = plain_escapes.find(escape); known != std::string_view::npos) {
      out += plain_values[known];
      literal.remove_prefix(1);
      continue;
    }
    if (escape == 'N')
      return fail(ErrorKind::usage, "the escape \\N{…} in a text is not supported");
    const bool octal = escape >= '0' && escape <= '7';
    const std::size_t digits = octal           ? 3
                               : escape == 'x' ? 2
                               : escape == 'u' ? 4
                               : escape == 'U' ? 8
                                               : 0;
    if (digits == 0) {
      // A line end that is escaped is not there; any other escape is no escape.
      if (escape != '\n') out += '\\';
      if (escape == '\n') literal.remove_prefix(1);
      continue;
    }
    if (!octal) literal.remove_prefix(1);
    auto code = take_number(literal, digits, octal ? 8 : 16, !octal);
    if (!code) return propagate(code);
    if (auto ok = append_character(out, *code); !ok) return propagate(ok);
  }
  return out;
}

}  // namespace trainward::trainer::jinja

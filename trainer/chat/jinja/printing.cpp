// Values as text: as Python prints them, and as its json module writes them.
#include <array>
#include <charconv>
#include <cmath>

#include "common/base/cases.hpp"
#include "trainer/chat/jinja/characters.hpp"
#include "trainer/chat/jinja/value.hpp"

namespace trainward::trainer::jinja {
namespace {

// A text in quotes, as Python shows it inside a list.
Text quoted(const Text& text) {
  const bool has_single = text.bytes().find('\'') != std::string_view::npos;
  const bool has_double = text.bytes().find('"') != std::string_view::npos;
  const char quote = has_single && !has_double ? '"' : '\'';
  Text out;
  out.append(std::string_view(&quote, 1), of_template);
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.bytes().substr(at);
    const std::string_view character = rest.substr(0, character_bytes(rest));
    const Mark mark = text.mark_at(at);
    const char32_t code = code_point(character);
    if (character == "\\" || character.front() == quote) {
      out.append("\\", mark);
      out.append(character, mark);
    } else if (character == "\n" || character == "\r" || character == "\t") {
      out.append(character == "\n" ? "\\n" : character == "\r" ? "\\r" : "\\t", mark);
    } else if (!is_printable(character)) {
      const auto number = static_cast<std::uint32_t>(code);
      out.append(number < 0x100     ? fmt::format("\\x{:02x}", number)
                 : number < 0x10000 ? fmt::format("\\u{:04x}", number)
                                    : fmt::format("\\U{:08x}", number),
                 mark);
    } else {
      out.append(character, mark);
    }
    at += character.size();
  }
  out.append(std::string_view(&quote, 1), of_template);
  return out;
}

tl::unexpected<Error> not_printed(const Value& value) {
  return fail(ErrorKind::usage, fmt::format("{} cannot be printed", kind_name(value)));
}

class Printer {
 public:
  explicit Printer(Budget& budget) : budget_(budget) {}

  Status print(const Value& value, bool inside) {
    const auto plain = [&](std::string_view text) { return add(text); };
    return std::visit(
        Cases{[&](const Undefined&) { return plain(inside ? "Undefined" : ""); },
              [&](const None&) { return plain("None"); },
              [&](bool held) { return plain(held ? "True" : "False"); },
              [&](std::int64_t held) { return plain(std::to_string(held)); },
              [&](double held) { return plain(number_as_text(held)); },
              [&](const std::shared_ptr<const Text>& text) {
                out.append(inside ? quoted(*text) : *text);
                return budget_.text(out.size());
              },
              [&](const Sequence& sequence) { return print_sequence(sequence, value); },
              [&](const Mapping& mapping) { return print_mapping(mapping); },
              [&](const auto&) -> Status { return not_printed(value); }},
        value.is());
  }

  Text out;

 private:
  Status add(std::string_view text) {
    out.append(text, of_template);
    return budget_.spend(1);
  }

  Status print_sequence(const Sequence& sequence, const Value& value) {
    const bool tuple = sequence.kind == Sequence::Kind::tuple;
    if (!tuple && sequence.kind != Sequence::Kind::list) return not_printed(value);
    out.append(tuple ? "(" : "[", of_template);
    std::string_view between;
    for (const Value& item : *sequence.items) {
      out.append(between, of_template);
      between = ", ";
      if (auto ok = print(item, true); !ok) return ok;
    }
    if (tuple && sequence.items->size() == 1) out.append(",", of_template);
    return add(tuple ? ")" : "]");
  }

  Status print_mapping(const Mapping& mapping) {
    out.append("{", of_template);
    std::string_view between;
    for (const auto& [key, value] : *mapping.entries) {
      out.append(between, of_template);
      between = ", ";
      if (auto ok = print(key, true); !ok) return ok;
      out.append(": ", of_template);
      if (auto ok = print(value, true); !ok) return ok;
    }
    return add("}");
  }

  Budget& budget_;
};

class JsonWriter {
 public:
  JsonWriter(const JsonStyle& style, Budget& budget) : style_(style), budget_(budget) {}

  Status write(const Value& value, int depth) {
    const auto plain = [&](std::string_view text) { return add(text); };
    return std::visit(
        Cases{[&](const None&) { return plain("null"); },
              [&](bool held) { return plain(held ? "true" : "false"); },
              [&](std::int64_t held) { return plain(std::to_string(held)); },
              [&](double held) { return plain(json_number(held)); },
              [&](const std::shared_ptr<const Text>& text) { return write_text(*text); },
              [&](const Sequence& sequence) { return write_sequence(sequence, value, depth); },
              [&](const Mapping& mapping) { return write_mapping(mapping, depth); },
              [&](const auto&) -> Status { return no_json(value); }},
        value.is());
  }

  Text out;

 private:
  static tl::unexpected<Error> no_json(const Value& value) {
    return fail(ErrorKind::usage, fmt::format("{} cannot be written as JSON", kind_name(value)));
  }
  static std::string json_number(double number) {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return number_as_text(number);
  }

  Status add(std::string_view text) {
    out.append(text, of_template);
    return budget_.text(out.size() / 1024);
  }

  void begin_line(int depth) {
    if (!style_.lines) return;
    out.append("\n", of_template);
    for (int i = 0; i < depth; ++i) out.append(style_.indent, of_template);
  }

  Status write_text(const Text& text) {
    out.append("\"", of_template);
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::string escape = escaped(text.bytes()[at]);
      if (escape.empty()) continue;
      out.append(text.slice(begin, at));
      out.append(escape, text.mark_at(at));
      begin = at + 1;
    }
    out.append(text.slice(begin, text.size()));
    if (auto ok = budget_.text(text.size()); !ok) return ok;
    return add("\"");
  }

  static std::string escaped(char c) {
    switch (c) {
      case '"':
        return "\\\"";
      case '\\':
        return "\\\\";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '\t':
        return "\\t";
      case '\b':
        return "\\b";
      case '\f':
        return "\\f";
      default:
        break;
    }
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 ? fmt::format("\\u{:04x}", byte) : std::string();
  }

  Status write_sequence(const Sequence& sequence, const Value& value, int depth) {
    if (sequence.kind != Sequence::Kind::list && sequence.kind != Sequence::Kind::tuple) {
      return no_json(value);
    }
    if (sequence.items->empty()) return add("[]");
    out.append("[", of_template);
    std::string_view between;
    for (const Value& item : *sequence.items) {
      out.append(between, of_template);
      between = style_.item_end;
      begin_line(depth + 1);
      if (auto ok = write(item, depth + 1); !ok) return ok;
    }
    begin_line(depth);
    return add("]");
  }

  Status write_key(const Value& key) {
    if (key.text() != nullptr) return write_text(*key.text());
    const bool simple = key.as<None>() != nullptr || key.as<bool>() != nullptr ||
                        key.as<std::int64_t>() != nullptr || key.as<double>() != nullptr;
    if (!simple) return no_json(key);
    out.append("\"", of_template);
    if (auto ok = write(key, 0); !ok) return ok;
    return add("\"");
  }

  Status write_mapping(const Mapping& mapping, int depth) {
    if (mapping.entries->empty()) return add("{}");
    out.append("{", of_template);
    std::string_view between;
    for (const auto& [key, value] : *mapping.entries) {
      out.append(between, of_template);
      between = style_.item_end;
      begin_line(depth + 1);
      if (auto ok = write_key(key); !ok) return ok;
      out.append(style_.key_end, of_template);
      if (auto ok = write(value, depth + 1); !ok) return ok;
    }
    begin_line(depth);
    return add("}");
  }

  const JsonStyle& style_;
  Budget& budget_;
};

}  // namespace

std::string number_as_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  std::array<char, 64> room{};
  const auto end =
      std::to_chars(room.data(), room.data() + room.size(), number, std::chars_format::scientific);
  // "-1.25e-07": the shortest digits that read back as this number.
  const std::string_view shortest(room.data(), static_cast<std::size_t>(end.ptr - room.data()));
  const std::size_t e = shortest.find('e');
  int exponent = 0;
  const std::string_view written = shortest.substr(e + (shortest[e + 1] == '+' ? 2 : 1));
  std::from_chars(written.data(), written.data() + written.size(), exponent);
  if (exponent < -4 || exponent >= 16) return std::string(shortest);
  std::string digits(shortest.substr(0, e));
  const std::string sign = digits.front() == '-' ? "-" : "";
  std::erase_if(digits, [](char c) { return c == '-' || c == '.'; });
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) return sign + digits + std::string(whole - digits.size(), '0') + ".0";
  return sign + digits.substr(0, whole) + "." + digits.substr(whole);
}

Result<Text> printed(const Value& value, Budget& budget) {
  Printer printer(budget);
  if (auto ok = printer.print(value, false); !ok) return propagate(ok);
  return std::move(printer.out);
}

Result<Text> json_text(const Value& value, const JsonStyle& style, Budget& budget) {
  JsonWriter writer(style, budget);
  if (auto ok = writer.write(value, 0); !ok) return propagate(ok);
  return std::move(writer.out);
}

}  // namespace trainward::trainer::jinja

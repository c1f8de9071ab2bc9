#include "checkpoint/huggingface/writing/indented_json.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace trainward::checkpoint::huggingface {
namespace {

// The shortest text that is read as the same number; with a point or an exponent, so that it stays
// a fraction. Plain digits from 1e-4 up to 1e16, as in Python.
void append_fraction(std::string& out, double number) {
  const double size = std::abs(number);
  const bool plain = number == 0 || (size >= 1e-4 && size < 1e16);
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  const std::string_view digits(text.data(), static_cast<std::size_t>(end - text.data()));
  out += digits;
  if (digits.find_first_of(".e") == std::string_view::npos) out += ".0";
}

void append(std::string& out, const json::value& value, std::size_t indent);

template <typename Items, typename Item>
void append_list(std::string& out, const Items& items, std::string_view brackets,
                 std::size_t indent, Item item) {
  out += brackets[0];
  bool first = true;
  for (const auto& each : items) {
    out += first ? "\n" : ",\n";
    out.append(indent + 2, ' ');
    item(each);
    first = false;
  }
  if (!first) out.append("\n").append(indent, ' ');
  out += brackets[1];
}

void append(std::string& out, const json::value& value, std::size_t indent) {
  if (value.is_object()) {
    append_list(out, value.get_object(), "{}", indent, [&](const json::key_value_pair& member) {
      out += json::serialize(member.key()) + ": ";
      append(out, member.value(), indent + 2);
    });
  } else if (value.is_array()) {
    append_list(out, value.get_array(), "[]", indent,
                [&](const json::value& item) { append(out, item, indent + 2); });
  } else if (value.is_double()) {
    append_fraction(out, value.get_double());
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string indented_json(const json::value& value) {
  std::string out;
  append(out, value, 0);
  return out;
}

}  // namespace trainward::checkpoint::huggingface

#include "supervisor/evidence/foreign/formats/fields.hpp"

#include <algorithm>

#include "common/base/number_in.hpp"
#include "supervisor/evidence/foreign/formats/letters.hpp"

namespace trainward::foreign {
namespace {

char at(std::string_view text, std::size_t i) { return i < text.size() ? text[i] : '\0'; }

std::size_t past_digits(std::string_view text, std::size_t i) {
  while (is_digit(at(text, i))) ++i;
  return i;
}

// Of digits in groups: a comma counts with exactly three digits behind it.
std::size_t past_whole(std::string_view text, std::size_t i) {
  i = past_digits(text, i);
  while (at(text, i) == ',' || at(text, i) == '_') {
    const std::size_t end = past_digits(text, i + 1);
    if (end != i + 4) break;
    i = end;
  }
  return i;
}

std::size_t past_number(std::string_view text, std::size_t i) {
  if (at(text, i) == '-' || at(text, i) == '+') ++i;
  i = past_whole(text, i);
  if (at(text, i) == '.') i = past_digits(text, i + 1);
  if (at(text, i) == 'e' || at(text, i) == 'E') {
    std::size_t exponent = i + 1;
    if (at(text, exponent) == '-' || at(text, exponent) == '+') ++exponent;
    if (is_digit(at(text, exponent))) i = past_digits(text, exponent);
  }
  return i;
}

// "2026-11-20", "10:00:07,312", "2.4.1", "0-7": what goes on like this is no number.
bool goes_on(std::string_view text, std::size_t i) {
  const char c = at(text, i);
  return (c == '-' || c == ':' || c == '.' || c == 'T') && is_digit(at(text, i + 1));
}

std::size_t past_chain(std::string_view text, std::size_t i) {
  while (is_word(at(text, i)) || at(text, i) == '-' || at(text, i) == ':' || at(text, i) == '.' ||
         at(text, i) == ',' || at(text, i) == '+' || at(text, i) == '/') {
    ++i;
  }
  return i;
}

std::size_t not_a_number_word(std::string_view text, std::size_t i) {
  if (i > 0 && is_word(text[i - 1])) return 0;
  const std::size_t sign = at(text, i) == '-' || at(text, i) == '+' ? 1 : 0;
  for (const std::string_view word : {"nan", "inf", "infinity"}) {
    if (same_word(text.substr(std::min(i + sign, text.size()), word.size()), word) &&
        !is_word(at(text, i + sign + word.size()))) {
      return sign + word.size();
    }
  }
  return 0;
}

// Behind a number: "/600", and the unit.
std::size_t read_rest(std::string_view line, std::size_t end, Field& field) {
  std::size_t of = end;
  while (at(line, of) == ' ') ++of;
  if (at(line, of) == '/') {
    ++of;
    while (at(line, of) == ' ') ++of;
    const std::size_t of_end = past_whole(line, of);
    if (of_end > of) {
      field.of = line.substr(of, of_end - of);
      end = of_end;
    }
  }
  const bool space = at(line, end) == ' ';
  std::size_t unit_end = end + (space ? 1 : 0);
  while (is_letter(at(line, unit_end)) || at(line, unit_end) == '%' || at(line, unit_end) == '/') {
    ++unit_end;
  }
  field.unit = line.substr(end, unit_end - end);
  if (space && !field.unit.empty()) field.unit.remove_prefix(1);
  field.glued = !space && !field.unit.empty();
  return field.glued ? unit_end : end;
}

}  // namespace

std::optional<Field> next_field(std::string_view& line) {
  std::size_t key = 0;
  std::size_t i = 0;
  while (i < line.size()) {
    const char c = line[i];
    const bool sign = (c == '-' || c == '+' || c == '.') && is_digit(at(line, i + 1));
    std::size_t end = 0;
    if (is_digit(c) || sign) {
      if (i > 0 && is_word(line[i - 1])) {  // "py3", "step10", "0-7" behind a word
        i = past_chain(line, i);
        continue;
      }
      end = past_number(line, i);
      if (goes_on(line, end)) {
        key = i = past_chain(line, end);
        continue;
      }
    } else if (c == 'n' || c == 'N' || c == 'i' || c == 'I' || c == '-' || c == '+') {
      end = i + not_a_number_word(line, i);
    }
    if (end <= i) {
      if (c == ',' || c == ';' || c == '|' || c == '{' || c == '}') key = i + 1;
      ++i;
      continue;
    }
    Field field;
    field.key = line.substr(key, i - key);
    field.number = line.substr(i, end - i);
    end = read_rest(line, end, field);
    const bool date = !field.of.empty() && at(line, end) == '/' && is_digit(at(line, end + 1));
    if (date) {
      key = i = past_chain(line, end);
      continue;
    }
    line.remove_prefix(end);
    return field;
  }
  line = {};
  return std::nullopt;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  if (text.empty()) return std::nullopt;
  for (const char c : text) {
    if (c == ',' || c == '_') continue;
    if (!is_digit(c) || value > (INT64_MAX - 9) / 10) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<double> real_number(std::string_view text) {
  if (!text.empty() && text.front() == '+') text.remove_prefix(1);
  if (const auto value = number_in<double>(text)) return value;
  if (const auto whole = whole_number(text)) return static_cast<double>(*whole);
  return std::nullopt;
}

}  // namespace trainward::foreign

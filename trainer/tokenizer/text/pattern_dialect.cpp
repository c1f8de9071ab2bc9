#include <fmt/format.h>

#include <algorithm>

#include "trainer/tokenizer/text/pattern.hpp"

namespace trainward::trainer {
namespace {

// \h: a hexadecimal digit there, a blank here; \v: one character there, a class here; \Q \E quote
// here only; \K and \C would let a match begin or end where no character does.
constexpr std::string_view different_escapes = "hHvVQEKC";

// Flags of "(?…)": m lets a dot match newlines there and is about lines here.
bool sets_m(std::string_view flags) {
  for (const char c : flags) {
    if (c == 'm') return true;
    if (c != 'i' && c != 's' && c != 'x' && c != '-') return false;
  }
  return false;
}

// What is different at the front of `rest`, which is outside of a set.
std::string_view outside(std::string_view rest) {
  if (rest.starts_with("(*")) return "(*";
  if (rest.starts_with("(?C")) return "(?C";
  if (rest.starts_with("(?") && sets_m(rest.substr(2))) return "(?m";
  if (rest.starts_with("{,")) return "{,";
  if (rest.starts_with("}+")) return "}+";
  return {};
}

// The same inside of a set.
std::string_view inside(std::string_view rest) {
  if (rest.starts_with("&&")) return "&&";
  if (rest.front() == '[' && !rest.starts_with("[:")) return "[ inside of a set";
  return {};
}

}  // namespace

std::string dialect_difference(std::string_view pattern) {
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
      if (i < pattern.size() && different_escapes.find(pattern[i]) != std::string_view::npos) {
        return fmt::format("\\{}", pattern[i]);
      }
      // The braces of \p{L} are no quantifier.
      if (pattern.substr(i + 1).starts_with('{'))
        i = std::min(pattern.find('}', i), pattern.size());
      continue;
    }
    const std::string_view rest = pattern.substr(i);
    const std::string_view found = in_set ? inside(rest) : outside(rest);
    if (!found.empty()) return std::string(found);
    if (!in_set && c == '[') {
      in_set = true;
      // A bracket that comes first is a member of the set.
      if (rest.substr(1).starts_with('^')) ++i;
      if (pattern.substr(i + 1).starts_with(']')) ++i;
    } else if (in_set && rest.starts_with("[:")) {
      const std::size_t end = pattern.find(":]", i);
      if (end == std::string_view::npos) return "[: without :]";
      i = end + 1;
    } else if (in_set && c == ']') {
      in_set = false;
    }
  }
  return {};
}

}  // namespace trainward::trainer

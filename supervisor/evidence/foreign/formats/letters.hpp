// What is looked for in a line: ASCII, whatever the locale.
#pragma once

#include <cstring>
#include <initializer_list>
#include <string_view>

namespace trainward::foreign {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
inline bool is_alnum(char c) { return is_letter(c) || is_digit(c); }
inline bool is_word(char c) { return is_alnum(c) || c == '_'; }

inline bool contains(std::string_view line, std::string_view text) {
  return ::memmem(line.data(), line.size(), text.data(), text.size()) != nullptr;
}

// Letters of either case.
inline bool same_word(std::string_view text, std::string_view lower_case) {
  if (text.size() != lower_case.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c != lower_case[i] && !(is_letter(c) && static_cast<char>(c | 0x20) == lower_case[i])) {
      return false;
    }
  }
  return true;
}

// One of these stands in the text as a word.
inline bool has_word(std::string_view text, std::initializer_list<std::string_view> lower_case) {
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && is_letter(text[end])) ++end;
    for (const std::string_view word : lower_case) {
      if (same_word(text.substr(i, end - i), word)) return true;
    }
    i = end + 1;
  }
  return false;
}

}  // namespace trainward::foreign

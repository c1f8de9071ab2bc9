// A text that is a number as a whole: no blanks, no sign of plus, nothing behind it.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace trainward {

// `format`: a base, or the format of a real number, as for std::from_chars. "nan" and "inf" are
// real numbers. Nothing too for one that T cannot hold.
template <typename T, typename... Format>
std::optional<T> number_in(std::string_view text, Format... format) {
  T value{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value, format...);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return value;
}

}  // namespace trainward

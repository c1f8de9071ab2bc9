#include "common/base/columns.hpp"

#include <algorithm>

namespace trainward {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Of its first `columns` columns.
std::size_t bytes_of(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues_character(text[end]) && columns-- == 0) break;
  }
  return end;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += continues_character(c) ? 0 : 1;
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  return std::string(text.substr(0, bytes_of(text, width - 1))) + "…";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (width > 0 && display_width(text) > width) {
    std::size_t end = bytes_of(text, width);
    // A line that ends just before a space has room for all of it.
    const std::size_t space = text.substr(0, end + 1).find_last_of(' ');
    if (space != std::string_view::npos && space > 0) end = space;
    lines.emplace_back(text.substr(0, text.substr(0, end).find_last_not_of(' ') + 1));
    text.remove_prefix(std::min(text.find_first_not_of(' ', end), text.size()));
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

}  // namespace trainward

#include "common/terminal/display_text.hpp"

#include <sys/ioctl.h>

namespace trainward {
namespace {

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  for (const char c : text) width += continues_character(c) ? 0 : 1;
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  if (display_width(text) <= width) return std::string(text);
  if (width == 0) return {};
  std::size_t columns = 0;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (!continues_character(text[end]) && columns++ == width - 1) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace trainward

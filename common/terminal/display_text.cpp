#include "common/terminal/display_text.hpp"

#include <sys/ioctl.h>

namespace trainward {

std::size_t terminal_width(int fd) {
  winsize size{};
  return ::ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

}  // namespace trainward

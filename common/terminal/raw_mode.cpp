#include "common/terminal/raw_mode.hpp"

namespace trainward {

termios raw_mode_of(termios before) {
  before.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG | IEXTEN);
  before.c_iflag &= ~static_cast<tcflag_t>(IXON | ICRNL | INLCR);
  before.c_cc[VMIN] = 1;
  before.c_cc[VTIME] = 0;
  return before;
}

}  // namespace trainward

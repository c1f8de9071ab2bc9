#include "supervisor/ctl/live/screen.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "common/terminal/raw_mode.hpp"

namespace trainward::ctl::live {
namespace {

// The other screen; no cursor; the last column does not begin a new line; what is pasted says so.
constexpr std::string_view take_over = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[?2004h";
constexpr std::string_view give_back = "\x1b[0m\x1b[?2004l\x1b[?7h\x1b[?25h\x1b[?1049l";

// So long a terminal may take for the last bytes before it is left as it is.
constexpr int patience_ms = 1'000;

// A description of our own, because not to wait is said of a description, and the shell has the
// other.
Fd opened_again(int out) {
  std::array<char, 128> name{};
  if (::ttyname_r(out, name.data(), name.size()) != 0) return {};
  return Fd(::open(name.data(), O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

Result<Screen> Screen::open(int in, int out) {
  termios before{};
  if (::tcgetattr(in, &before) != 0) {
    return fail(ErrorKind::permanent,
                fmt::format("this terminal cannot be used: {}", std::strerror(errno)),
                "standard input", "trainwardctl status prints the same as lines");
  }
  return Screen(in, out, before);
}

Screen::Screen(int in, int out, const termios& before)
    : in_(in), out_(out), before_(before), own_(opened_again(out)) {}

Screen::Screen(Screen&& other) noexcept
    : in_(other.in_),
      out_(other.out_),
      before_(other.before_),
      own_(std::move(other.own_)),
      waiting_(std::move(other.waiting_)),
      entered_(other.entered_) {
  other.moved_from_ = true;
}

Screen::~Screen() {
  if (!moved_from_) leave();
}

void Screen::enter() {
  const termios raw = raw_mode_of(before_);
  // Without waiting for what is still on its way out.
  ::tcsetattr(in_, TCSANOW, &raw);
  entered_ = true;
  write(take_over);
}

void Screen::leave() {
  if (!entered_) return;
  entered_ = false;
  // Of a frame that is half out the rest is no loss, but a sequence cut in two would swallow what
  // follows: the terminal ends one with CAN.
  if (waits()) waiting_ = "\x18";
  if (write(give_back) && waits()) {
    pollfd ready{out(), POLLOUT, 0};
    for (int tries = 0; tries < 10 && waits() && ::poll(&ready, 1, patience_ms / 10) >= 0;
         ++tries) {
      if (!flush()) break;
    }
  }
  waiting_.clear();
  ::tcsetattr(in_, TCSANOW, &before_);
  // What was typed and not read was meant for us.
  ::tcflush(in_, TCIFLUSH);
}

top::Size Screen::size() const {
  winsize size{};
  if (::ioctl(out_, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0) {
    return {80, 24};
  }
  // Nobody's screen is larger, but a terminal may say anything.
  return {std::min<int>(size.ws_col, 1'000), std::min<int>(size.ws_row, 500)};
}

bool Screen::write(std::string_view bytes) {
  waiting_ += bytes;
  return flush();
}

bool Screen::flush() {
  std::size_t done = 0;
  while (done < waiting_.size()) {
    const ssize_t wrote = ::write(out(), waiting_.data() + done, waiting_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (wrote <= 0) {
      waiting_.clear();
      return false;
    }
    done += static_cast<std::size_t>(wrote);
  }
  waiting_.erase(0, done);
  return true;
}

}  // namespace trainward::ctl::live

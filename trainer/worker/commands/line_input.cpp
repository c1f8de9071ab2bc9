#include "trainer/worker/commands/line_input.hpp"

#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX, not <csignal>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <utility>

namespace trainward::trainer {
namespace {

constexpr std::size_t longest_line = std::size_t{1} << 20U;
// Signals that come between a look at the flag and the wait are seen after so long.
constexpr int wait_ms = 200;

// A signal handler can reach nothing but statics. Lock-free, so it may also touch them.
std::atomic<bool> interrupt_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_interrupt(int) { interrupt_flag.store(true); }

}  // namespace

Status LineInput::catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = note_interrupt;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGINT, &action, nullptr) != 0) return fail_errno(errno, "set a signal handler");
  return {};
}

bool LineInput::take_interrupt() { return interrupt_flag.exchange(false); }

bool LineInput::is_terminal() {
  return ::isatty(STDIN_FILENO) == 1 && ::isatty(STDERR_FILENO) == 1;
}

std::optional<std::string> LineInput::read(const Requests& requests) {
  while (true) {
    const std::size_t end = held_.find('\n');
    if (end != std::string::npos || held_.size() >= longest_line) {
      std::string line = held_.substr(0, end);
      held_.erase(0, end == std::string::npos ? end : end + 1);
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (ended_) {
      if (held_.empty()) return std::nullopt;
      return std::exchange(held_, {});
    }
    if (requests.stop_requested() || take_interrupt()) return std::nullopt;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    if (::poll(&input, 1, wait_ms) <= 0) continue;
    std::array<char, 4096> bytes{};
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) {
      ended_ = true;
    } else {
      held_.append(bytes.data(), static_cast<std::size_t>(got));
    }
  }
}

}  // namespace trainward::trainer

#include "trainer/loop/signals.hpp"

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX, not <csignal>

#include <atomic>
#include <cerrno>

namespace trainward::trainer {
namespace {

// A signal handler can reach nothing but statics. Lock-free, so it may also touch them.
std::atomic<bool> stop_flag{false};
std::atomic<bool> save_flag{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void note_stop(int) { stop_flag.store(true); }
extern "C" void note_save(int) { save_flag.store(true); }

bool set_handler(int number, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  // Restarted, so that a signal in the middle of a save does not turn into a failed write.
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(number, &action, nullptr) == 0;
}

}  // namespace

Status SignalRequests::install() {
  if (!set_handler(SIGTERM, note_stop) || !set_handler(SIGINT, note_stop) ||
      !set_handler(SIGUSR1, note_save) || !set_handler(SIGPIPE, SIG_IGN)) {
    return fail_errno(errno, "set the signal handlers");
  }
  sigset_t ours;
  ::sigemptyset(&ours);
  for (const int number : {SIGTERM, SIGINT, SIGUSR1}) ::sigaddset(&ours, number);
  if (::sigprocmask(SIG_UNBLOCK, &ours, nullptr) != 0) {
    return fail_errno(errno, "unblock the signals");
  }
  return {};
}

bool SignalRequests::stop_requested() const { return stop_flag.load(); }
bool SignalRequests::take_save_request() { return save_flag.exchange(false); }

}  // namespace trainward::trainer

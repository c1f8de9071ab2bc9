#include "supervisor/ctl/base/interruption.hpp"

#include <unistd.h>

#include <ctime>
#include <string_view>
#include <system_error>

namespace trainward::ctl {
namespace {

// Longer than any operation takes from one safe point to the next, unless something hangs.
constexpr timespec patience{3, 0};

sigset_t both() {
  sigset_t ends{};
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGINT);
  ::sigaddset(&ends, SIGTERM);
  return ends;
}

void say(std::string_view text) { (void)!::write(STDERR_FILENO, text.data(), text.size()); }

[[noreturn]] void end_by(int number) {
  say("\ntrainwardctl: ended at once; `trainwardctl ckpt repair` removes what is half written\n");
  sigset_t one{};
  ::sigemptyset(&one);
  ::sigaddset(&one, number);
  ::signal(number, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  ::raise(number);
  ::_exit(128 + number);
}

}  // namespace

Interruption::Interruption() {
  const sigset_t ends = both();
  ::pthread_sigmask(SIG_BLOCK, &ends, &before_);
  // One that was held back already counts before anything is begun.
  const timespec at_once{};
  if (const int waiting = ::sigtimedwait(&ends, nullptr, &at_once); waiting > 0) seen_ = waiting;
  try {
    watcher_ = std::thread([this, ends] { watch(ends); });
  } catch (const std::system_error&) {
    // Without a thread nobody would ever see them: then they end the process as always.
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
}

Interruption::~Interruption() {
  if (!watcher_.joinable()) return;
  over_ = true;
  ::pthread_kill(watcher_.native_handle(), SIGTERM);
  watcher_.join();
  // One that came too late to matter must not end the process that has finished its work.
  const sigset_t ends = both();
  const timespec now{};
  while (::sigtimedwait(&ends, nullptr, &now) > 0) {
  }
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Interruption::watch(const sigset_t& ends) {
  if (seen_ == 0) {
    int first = 0;
    ::sigwait(&ends, &first);
    if (over_) return;
    seen_ = first;
  }
  int second = ::sigtimedwait(&ends, nullptr, &patience);
  if (second <= 0) {
    say("\ntrainwardctl: still in the middle of something; once more ends it at once\n");
    ::sigwait(&ends, &second);
  }
  if (!over_) end_by(second);
}

}  // namespace trainward::ctl

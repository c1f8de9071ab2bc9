#include "supervisor/daemon/loop/reaper.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "common/os/processes/process_files.hpp"
#include "common/os/processes/process_id.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t patience_ms = 1'000;

bool is_zombie(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

}  // namespace

Reaper::Reaper(Loop& loop) : timer_(loop), children_(loop, {SIGCHLD}, [this](int) { arm(); }) {
  arm();
}

void Reaper::arm() {
  if (!std::exchange(armed_, true)) timer_.after(patience_ms, [this] { look(); });
}

void Reaper::look() {
  armed_ = false;
  std::map<pid_t, std::uint64_t> left;
  for (const pid_t pid : host::children_of("/", ::getpid())) {
    if (!is_zombie(pid)) continue;
    const auto id = identify(pid);
    if (!id) continue;
    const auto before = seen_.find(pid);
    if (before != seen_.end() && before->second == id->start_ticks) {
      ::waitpid(pid, nullptr, WNOHANG);
    } else {
      left.emplace(pid, id->start_ticks);
    }
  }
  seen_ = std::move(left);
  if (!seen_.empty()) arm();
}

}  // namespace trainward::daemon

#include "supervisor/daemon/loop/reaper.hpp"

#include <sys/wait.h>

#include <csignal>
#include <filesystem>
#include <sstream>
#include <vector>

#include "common/os/file.hpp"
#include "common/os/process_id.hpp"

namespace trainward::daemon {
namespace {

constexpr std::int64_t patience_ms = 1'000;

// Of all threads: the kernel lists children by the thread that started or inherited them.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  std::error_code error;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", error)) {
    std::istringstream list(read_file(task.path() / "children", 1 << 20).value_or(""));
    for (pid_t pid = 0; list >> pid;) found.push_back(pid);
  }
  return found;
}

bool is_zombie(pid_t pid) {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == pid;
}

}  // namespace

Reaper::Reaper(Loop& loop)
    : timer_(loop), children_(loop, {SIGCHLD}, [this](int) {
        if (!std::exchange(armed_, true)) timer_.after(patience_ms, [this] { look(); });
      }) {}

void Reaper::look() {
  armed_ = false;
  std::map<pid_t, std::uint64_t> left;
  for (const pid_t pid : children()) {
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
  if (seen_.empty()) return;
  armed_ = true;
  timer_.after(patience_ms, [this] { look(); });
}

}  // namespace trainward::daemon

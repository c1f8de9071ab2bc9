#include "supervisor/process/containment/proc.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>

#include "common/os/clock.hpp"
#include "common/os/fd.hpp"
#include "common/os/processes/host_files.hpp"
#include "common/os/processes/process_files.hpp"

namespace trainward::containment {
namespace {

// Enough for the environment of any process, and for the list of a group with millions in it.
constexpr std::size_t most_bytes = 16 * 1024 * 1024;

struct Target {
  pid_t pid;
  Fd pidfd;  // empty on kernels without
};

bool ended(const Target& target) {
  if (!target.pidfd) return ::kill(target.pid, 0) != 0 || is_zombie(target.pid);
  pollfd one{target.pidfd.get(), POLLIN, 0};
  return ::poll(&one, 1, 0) > 0;
}

}  // namespace

std::string read_proc(const std::filesystem::path& file) {
  return host::read_some(file, most_bytes).value_or("");
}

Survivor describe(pid_t pid) {
  const auto stat = host::read_stat("/", pid);
  return {pid, stat ? stat->name : "", host::waits_in(host::process_folder("/", pid))};
}

std::string to_string(const std::vector<Survivor>& survivors) {
  std::string text;
  for (const Survivor& one : survivors) {
    if (!text.empty()) text += ", ";
    text += std::to_string(one.pid) + " (" + one.name;
    if (!one.waits_in.empty()) text += ", in " + one.waits_in;
    text += ")";
  }
  return text;
}

std::vector<pid_t> all_processes() { return host::numbers_in("/proc", SIZE_MAX); }

std::vector<pid_t> own_children() { return host::children_of("/", ::getpid()); }

pid_t parent_of(pid_t pid) {
  const auto stat = host::read_stat("/", pid);
  return stat ? stat->parent : 0;
}

bool is_zombie(pid_t pid) {
  const auto stat = host::read_stat("/", pid);
  return !stat || stat->ended();
}

std::vector<pid_t> group_members(pid_t group) {
  // Asks the kernel first: mostly nobody is left, and the machine may have thousands.
  if (::kill(-group, 0) != 0 && errno == ESRCH) return {};
  std::vector<pid_t> members = all_processes();
  std::erase_if(members, [group](pid_t pid) {
    const auto stat = host::read_stat("/", pid);
    return !stat || stat->group != group || stat->ended();
  });
  return members;
}

Disposition disposition(pid_t pid, int signal) {
  const std::string status = read_proc(host::process_folder("/", pid) / "status");
  const auto has = [&](std::string_view key) {
    const auto at = status.find(key);
    if (at == std::string::npos) return false;
    const std::string_view text = std::string_view(status).substr(at + key.size());
    std::uint64_t mask = 0;
    std::from_chars(text.data(), text.data() + text.size(), mask, 16);
    return (mask >> (signal - 1) & 1U) != 0;
  };
  if (has("\nSigCgt:\t") || has("\nSigBlk:\t")) return Disposition::handled;
  return has("\nSigIgn:\t") ? Disposition::ignored : Disposition::standard;
}

std::string_view variable(std::string_view environment, std::string_view name) {
  while (!environment.empty()) {
    const auto end = std::min(environment.find('\0'), environment.size());
    const std::string_view entry = environment.substr(0, end);
    environment.remove_prefix(std::min(end + 1, environment.size()));
    if (entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

std::vector<pid_t> kill_and_wait(const std::vector<pid_t>& pids, int wait_ms,
                                 const std::function<bool(pid_t)>& still_meant) {
  std::vector<Target> targets;
  for (const pid_t pid : pids) {
    Target target{pid, Fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)))};
    if (!target.pidfd && errno == ESRCH) continue;
    if (still_meant && !still_meant(pid)) continue;
    if (target.pidfd) {
      ::syscall(SYS_pidfd_send_signal, target.pidfd.get(), SIGKILL, nullptr, 0);
    } else {
      ::kill(pid, SIGKILL);
    }
    targets.push_back(std::move(target));
  }
  const MonoTime deadline = now().mono + wait_ms;
  for (;;) {
    std::erase_if(targets, ended);
    const std::int64_t left = deadline - now().mono;
    if (targets.empty() || left <= 0) break;
    // One after the other is as fast as all at once: every one of them must end.
    pollfd first{targets.front().pidfd.get(), POLLIN, 0};
    ::poll(&first, 1, static_cast<int>(first.fd < 0 ? std::min<std::int64_t>(left, 5) : left));
  }
  std::vector<pid_t> left;
  left.reserve(targets.size());
  for (const Target& target : targets) left.push_back(target.pid);
  return left;
}

}  // namespace trainward::containment

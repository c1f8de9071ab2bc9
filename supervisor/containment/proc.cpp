#include "supervisor/containment/proc.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <memory>

#include "common/os/clock.hpp"
#include "common/os/fd.hpp"
#include "common/os/file.hpp"
#include "common/os/process_id.hpp"

namespace trainward::containment {
namespace {

std::string stat_of(pid_t pid) { return read_proc("/proc/" + std::to_string(pid) + "/stat"); }

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

std::string read_proc(const std::string& path) {
  std::string text;
  const auto fd = open_regular(path, O_RDONLY);
  if (!fd) return text;
  std::array<char, 4096> chunk;
  for (;;) {
    const ssize_t got = ::read(fd->get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

Survivor describe(pid_t pid) {
  const std::string folder = "/proc/" + std::to_string(pid);
  Survivor survivor{pid, read_proc(folder + "/comm"), read_proc(folder + "/wchan")};
  while (survivor.name.ends_with('\n')) survivor.name.pop_back();
  if (survivor.waits_in == "0") survivor.waits_in.clear();
  return survivor;
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

std::vector<pid_t> all_processes() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc"), ::closedir);
  if (!folder) return pids;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name(entry->d_name);
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ec == std::errc()) {
      pids.push_back(pid);
    }
  }
  return pids;
}

std::vector<pid_t> own_children() {
  // The list belongs to the thread that forked: the first one.
  return parse_pids(read_proc("/proc/self/task/" + std::to_string(::getpid()) + "/children"));
}

pid_t parent_of(pid_t pid) {
  const std::string stat = stat_of(pid);
  const std::string_view field = stat_field(stat, 4);
  pid_t parent = 0;
  std::from_chars(field.data(), field.data() + field.size(), parent);
  return parent;
}

bool is_zombie(pid_t pid) {
  const std::string stat = stat_of(pid);
  const std::string_view state = stat_field(stat, 3);
  return state.empty() || state == "Z" || state == "X";
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

std::vector<pid_t> parse_pids(std::string_view text) {
  std::vector<pid_t> pids;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at < end) {
    pid_t pid = 0;
    const auto [next, error] = std::from_chars(at, end, pid);
    if (error == std::errc() && pid > 0) pids.push_back(pid);
    at = next + 1;
  }
  return pids;
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

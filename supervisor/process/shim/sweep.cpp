#include "supervisor/process/shim/sweep.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <set>

#include "common/base/json/json_text.hpp"
#include "common/os/clock.hpp"

namespace trainward::shim {
namespace {

void reap() {
  while (::waitpid(-1, nullptr, WNOHANG) > 0) {
  }
}

// Zombies among them.
std::set<pid_t> members(const containment::Cgroup& cgroup) {
  std::set<pid_t> pids;
  if (!cgroup.empty()) {
    for (const pid_t pid : cgroup.processes()) pids.insert(pid);
  }
  for (const pid_t pid : containment::own_children()) pids.insert(pid);
  return pids;
}

void wait_for_child(int signals, std::int64_t at_most_ms) {
  pollfd ended{signals, POLLIN, 0};
  ::poll(&ended, 1, static_cast<int>(at_most_ms));
  signalfd_siginfo info{};
  while (::read(signals, &info, sizeof(info)) > 0) {
  }
}

}  // namespace

std::vector<pid_t> tree(const containment::Cgroup& cgroup) {
  // One that was alive when the list was read and a zombie when it was asked has left its children
  // to us in between. So nobody is left only when all of the list before were zombies already.
  std::set<pid_t> before;
  for (;;) {
    std::set<pid_t> pids = members(cgroup);
    std::set<pid_t> alive = pids;
    std::erase_if(alive, containment::is_zombie);
    const bool none_new = std::includes(before.begin(), before.end(), pids.begin(), pids.end());
    if (!alive.empty() || none_new) return {alive.begin(), alive.end()};
    before = std::move(pids);
  }
}

void kill_tree(const containment::Cgroup& cgroup, pid_t group) {
  // No SIGCONT before: SIGKILL ends stopped processes too, and one that ran for an instant in
  // between could end by itself, with an exit code that would pass for its own decision.
  ::kill(-group, SIGKILL);
  if (cgroup.tracks()) cgroup.kill();
}

Swept sweep(const containment::Cgroup& cgroup, pid_t group, int signals, std::int64_t wait_ms) {
  Swept swept;
  std::set<pid_t> seen;
  const MonoTime give_up = now().mono + wait_ms;
  for (std::int64_t pause_ms = 1;; pause_ms = std::min<std::int64_t>(pause_ms * 2, 50)) {
    reap();
    const std::vector<pid_t> left = tree(cgroup);
    seen.insert(left.begin(), left.end());
    swept.killed = static_cast<int>(seen.size());
    if (left.empty()) {
      reap();  // those that have ended since
      return swept;
    }
    const std::int64_t remaining = give_up - now().mono;
    if (remaining <= 0) {
      for (const pid_t pid : left) swept.survivors.push_back(containment::describe(pid));
      swept.killed -= static_cast<int>(left.size());
      return swept;
    }
    // The group's number is still ours: its leader was reaped, but members hold the number, and
    // without any, kill() finds no process.
    kill_tree(cgroup, group);
    for (const pid_t pid : left) ::kill(pid, SIGKILL);
    wait_for_child(signals, std::min(remaining, pause_ms));
  }
}

std::string survivors_json(const std::vector<containment::Survivor>& survivors) {
  std::string list = "[";
  for (const containment::Survivor& one : survivors) {
    if (list.size() > 1) list += ',';
    JsonText text;
    text.add("pid", std::int64_t{one.pid}).add("comm", one.name).add("wchan", one.waits_in);
    list += text.object();
  }
  return list + "]";
}

}  // namespace trainward::shim

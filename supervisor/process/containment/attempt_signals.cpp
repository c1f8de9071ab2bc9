#include "supervisor/process/containment/attempt_signals.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <set>

#include "common/os/processes/process_files.hpp"
#include "common/protocol/protocol.hpp"
#include "supervisor/process/containment/containment_cgroup.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::containment {
namespace {

bool has_nonce(pid_t pid, const std::string& nonce) {
  const std::string environment = read_proc(host::process_folder("/", pid) / "environ");
  return variable(environment, env::nonce) == nonce;
}

}  // namespace

int kill_attempt(const AttemptMarks& marks) {
  kill_worker(marks.facts);
  std::set<pid_t> found;
  std::string group = marks.facts.cgroup.filename().string();
  if (group.empty()) group = marks.cgroup_name;
  if (!group.empty()) {
    const Cgroup cgroup = Cgroup::existing(this_host(), group);
    for (const pid_t pid : cgroup.processes()) found.insert(pid);
    cgroup.kill();
  }
  std::set<pid_t> marked;
  for (const pid_t pid : marks.nonce.empty() ? std::vector<pid_t>{} : all_processes()) {
    if (has_nonce(pid, marks.nonce) && !is_zombie(pid)) marked.insert(pid);
  }
  kill_and_wait({marked.begin(), marked.end()}, 0,
                [&](pid_t pid) { return has_nonce(pid, marks.nonce); });
  found.merge(marked);
  return static_cast<int>(found.size());
}

void kill_worker(const AttemptFacts& facts) {
  if (!facts.cgroup.empty()) {
    Cgroup::existing(this_host(), facts.cgroup.filename().string()).kill();
  }
  if (!facts.worker) return;
  // As long as the descriptor says that it is this process, its number is nobody else's.
  const auto worker = open_process(*facts.worker);
  if (worker) ::kill(-facts.worker->pid, SIGKILL);
  if (worker) ::kill(facts.worker->pid, SIGKILL);
}

Status signal_worker(const AttemptFacts& facts, int number) {
  if (!facts.worker) {
    return fail(ErrorKind::permanent, "there is no worker yet", facts.folder.string());
  }
  auto worker = open_process(*facts.worker);
  if (!worker) return propagate(worker);
  if (::syscall(SYS_pidfd_send_signal, worker->get(), number, nullptr, 0) != 0) {
    return fail_errno(errno, "send a signal", facts.folder.string());
  }
  return {};
}

}  // namespace trainward::containment

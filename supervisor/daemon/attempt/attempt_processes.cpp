#include "supervisor/daemon/attempt/attempt_processes.hpp"

#include <utility>

#include "supervisor/process/containment/leftovers.hpp"

namespace trainward::daemon {

containment::AttemptMarks marks_of(const store::Store& store, const Paths& paths,
                                   const store::AttemptRow& attempt) {
  containment::AttemptMarks marks;
  const auto folder = paths.attempt(attempt.program, attempt.number);
  marks.nonce = attempt.nonce;
  marks.cgroup_name =
      containment::cgroup_prefix(paths.state, attempt.program) + std::to_string(attempt.number);
  marks.facts = containment::read_attempt(folder);
  const auto row = store.processes(attempt.program, attempt.number).value_or(std::nullopt);
  if (!row || row->shim_pid == 0) return marks;
  const auto process = [&](std::int64_t pid, std::int64_t ticks) {
    return ProcessId{static_cast<pid_t>(pid), static_cast<std::uint64_t>(ticks), row->boot_id};
  };
  marks.facts.shim = process(row->shim_pid, row->shim_start_ticks);
  marks.facts.worker = process(row->worker_pid, row->worker_start_ticks);
  marks.facts.cgroup = row->cgroup;
  return marks;
}

}  // namespace trainward::daemon

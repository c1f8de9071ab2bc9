// Ending everything a worker has started.
//
// With a cgroup that is the cgroup. Without, it is the process group, plus whatever has become a
// child of this process: as subreaper the shim inherits the orphans of its worker, however they
// detached themselves. Both are looked at in any case, which costs two small reads.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "supervisor/process/containment/containment_cgroup.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::shim {

struct Swept {
  int killed = 0;
  std::vector<containment::Survivor> survivors;  // SIGKILL has not ended them in time
};

// After the worker was reaped. `signals`: the descriptor on which SIGCHLD arrives.
Swept sweep(const containment::Cgroup& cgroup, pid_t group, int signals, std::int64_t wait_ms);

// SIGKILL for the whole tree, now. Stopped processes die as well.
void kill_tree(const containment::Cgroup& cgroup, pid_t group);

// Who of the tree is there: of the cgroup and of this process's children, zombies left out.
std::vector<pid_t> tree(const containment::Cgroup& cgroup);

// The list for the journal: [{"pid":1,"comm":"x","wchan":"y"},…]
std::string survivors_json(const std::vector<containment::Survivor>& survivors);

}  // namespace trainward::shim

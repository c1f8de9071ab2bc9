// Signals to the processes of one attempt, where its shim cannot be asked to pass them on.
#pragma once

#include <string>

#include "common/base/error.hpp"
#include "supervisor/process/containment/attempt_facts.hpp"

namespace trainward::containment {

// All that tells an attempt's processes from others; what is not known is empty.
struct AttemptMarks {
  AttemptFacts facts;
  std::string cgroup_name;  // cgroup_prefix() and the attempt's number
  std::string nonce;        // TRAINWARD_NONCE of whatever the worker has started
};

// SIGKILL to the worker, its process group, everything in its cgroup and everything that has its
// nonce. Does not wait for their end. Returns how many processes there were. Reads /proc of all
// processes, which may hang with one of them: not for the event loop.
int kill_attempt(const AttemptMarks& marks);

// SIGKILL to the worker, its group and everything in its cgroup, for a shim that does not do it.
// Asks nothing that may hang, and finds nobody whom the facts do not name.
void kill_worker(const AttemptFacts& facts);

// Any signal to the worker, and to nobody else. Kind permanent: it is gone, or not known.
Status signal_worker(const AttemptFacts& facts, int number);

}  // namespace trainward::containment

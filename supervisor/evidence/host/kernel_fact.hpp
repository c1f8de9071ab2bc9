// What one line of the kernel's log says about the health of a run. Pure.
//
// The lines are in kernel_patterns.cpp, benign ones first, as in the crash rules. A fact has two
// weights: `own` when it names the worker (a process of its, its cgroup, its board), `other` when
// it names somebody else; 0: then it says nothing about the worker. What ended the run weighs more
// than how it ended: a kill for want of memory outweighs the log of the worker (60), a segmentation
// fault does not, because the log tells what led to it (see
// supervisor/decide/core/turn/classify.hpp).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "supervisor/decide/core/cause.hpp"

namespace trainward::host {

struct KernelFact {
  core::Cause cause = core::Cause::unknown;
  pid_t pid = 0;                     // process or thread it names; 0: none
  std::string cgroup;                // of the process that was killed; empty: not said
  std::vector<std::string> bus_ids;  // "0000:c1:00.0", at most 4
  std::string text;                  // the line, printable, at most 400 bytes
  int own = 0;
  int other = 0;
  friend bool operator==(const KernelFact&, const KernelFact&) = default;
};

// `line` is the text of a record, without its header. Nothing when it is benign or unknown.
std::optional<KernelFact> judge_kernel_line(std::string_view line);

}  // namespace trainward::host

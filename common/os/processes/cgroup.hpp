// Which cgroups a process is in, as folders: version 2 (one tree) and version 1 (a tree for each
// controller), side by side where a machine has both.
//
// Where the trees are mounted comes from /proc/self/mountinfo, so that containers, whose cgroups
// begin in the middle of the host's tree, are understood as well.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

namespace trainward::host {

struct Cgroup {
  std::filesystem::path folder;  // empty: no cgroup, or not visible from here
  std::filesystem::path top;     // where its tree is mounted; ancestors lie between the two
  std::string name;              // as the kernel calls it: "/system.slice/trainward.service"
};

struct Cgroups {
  Cgroup unified;   // version 2
  Cgroup memory;    // version 1
  Cgroup cpu_time;  // version 1: cpuacct
};

// Never fails: what cannot be found out is empty.
Cgroups cgroups_of(const std::filesystem::path& root, pid_t pid);

// The folder and its ancestors up to the top, nearest first; at most 64.
std::vector<std::filesystem::path> chain_of(const Cgroup& cgroup);

}  // namespace trainward::host

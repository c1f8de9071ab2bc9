// Where a process stands in the trees of cgroups, told from two texts of the kernel. Pure.
//
// A container sees a part of the host's tree mounted, and may be in a cgroup outside of that part.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trainward {

struct CgroupPlace {
  std::string top;     // the folder its tree is mounted at
  std::string folder;  // its own: `top` or below
  std::string name;    // as the kernel calls it: "/system.slice/trainward.service"
};

// `mountinfo` and `names` are /proc/self/mountinfo and /proc/PID/cgroup. `controller` names a tree
// of version 1 ("memory", "name=systemd"); "" is the one of version 2. Nothing where there is no
// such tree, or the process's folder cannot be reached through it.
std::optional<CgroupPlace> cgroup_place(std::string_view mountinfo, std::string_view names,
                                        std::string_view controller);

}  // namespace trainward

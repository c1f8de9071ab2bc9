// Which cgroups this host has, and where this process stands in them. Found at run time: version 2
// alone, version 1 alone, both beside each other (hybrid), or none.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace trainward::containment {

// Folders under which a group for a worker can be made; empty where there is no such hierarchy.
struct CgroupHost {
  std::filesystem::path unified;  // version 2
  std::filesystem::path systemd;  // version 1, the hierarchy without controllers
  std::filesystem::path freezer;  // version 1
  std::filesystem::path memory;   // version 1

  friend bool operator==(const CgroupHost&, const CgroupHost&) = default;
};

// The leaf into which the supervisor's own processes move where version 2 demands that
// (cgroup.cpp).
inline constexpr const char* supervisor_leaf = "trainward.supervisor";

// From the texts of /proc/self/mountinfo and /proc/self/cgroup.
CgroupHost parse_host(std::string_view mountinfo, std::string_view names);
CgroupHost this_host();

// Only what the configuration allows: "auto" (everything), "cgroup2", "cgroup1", "none".
CgroupHost restrict_to(CgroupHost host, std::string_view allowed);

}  // namespace trainward::containment

#include "supervisor/process/containment/containment_host.hpp"

#include "common/os/processes/cgroup_place.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::containment {
namespace {

std::filesystem::path folder(std::string_view mountinfo, std::string_view names,
                             std::string_view controller) {
  const auto place = cgroup_place(mountinfo, names, controller);
  if (!place) return {};
  const std::filesystem::path own = place->folder;
  return own.filename() == supervisor_leaf ? own.parent_path() : own;
}

}  // namespace

CgroupHost parse_host(std::string_view mountinfo, std::string_view names) {
  return {folder(mountinfo, names, ""), folder(mountinfo, names, "name=systemd"),
          folder(mountinfo, names, "freezer"), folder(mountinfo, names, "memory")};
}

CgroupHost this_host() {
  return parse_host(read_proc("/proc/self/mountinfo"), read_proc("/proc/self/cgroup"));
}

CgroupHost restrict_to(CgroupHost host, std::string_view allowed) {
  if (allowed == "none") return {};
  if (allowed == "cgroup1") host.unified.clear();
  if (allowed == "cgroup2") host.systemd = host.freezer = host.memory = "";
  return host;
}

}  // namespace trainward::containment

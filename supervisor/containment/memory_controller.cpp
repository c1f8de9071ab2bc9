#include "supervisor/containment/memory_controller.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <string>

#include "supervisor/containment/host.hpp"
#include "supervisor/containment/proc.hpp"

namespace trainward::containment {
namespace {

bool lists_memory(const std::filesystem::path& file) {
  std::string words = " " + read_proc(file.string());
  while (words.ends_with('\n')) words.pop_back();
  return (words + " ").find(" memory ") != std::string::npos;
}

// systemd marks what it has delegated.
bool delegated(const std::filesystem::path& group) {
  return ::getxattr(group.c_str(), "trusted.delegate", nullptr, 0) > 0 ||
         ::getxattr(group.c_str(), "user.delegate", nullptr, 0) > 0;
}

Status move_supervisor(const std::filesystem::path& group) {
  const auto pids = parse_pids(read_proc((group / "cgroup.procs").string()));
  for (const pid_t pid : pids) {
    if (!describe(pid).name.starts_with("trainward")) {
      return fail(ErrorKind::permanent, "process " + to_string({describe(pid)}) + " is not ours",
                  group.string());
    }
  }
  const auto leaf = group / supervisor_leaf;
  if (::mkdir(leaf.c_str(), 0755) != 0 && errno != EEXIST) {
    return fail_errno(errno, "make the group", leaf.string());
  }
  for (const pid_t pid : pids) {
    if (auto moved = write_control(leaf / "cgroup.procs", std::to_string(pid)); !moved) {
      return moved;
    }
  }
  return {};
}

}  // namespace

Status enable_memory(const std::filesystem::path& group) {
  if (lists_memory(group / "cgroup.subtree_control")) return {};
  if (!lists_memory(group / "cgroup.controllers")) {
    return fail(ErrorKind::permanent, "the memory controller is not given to this group",
                group.string());
  }
  if (write_control(group / "cgroup.subtree_control", "+memory")) return {};
  if (!delegated(group)) {
    return fail(ErrorKind::permanent, "is not delegated to us, so the memory controller stays off",
                group.string(), "Delegate=yes in the service");
  }
  if (auto moved = move_supervisor(group); !moved) return moved;
  return write_control(group / "cgroup.subtree_control", "+memory");
}

}  // namespace trainward::containment

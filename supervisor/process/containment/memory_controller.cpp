#include "supervisor/process/containment/memory_controller.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <cerrno>
#include <string>

#include "common/os/file.hpp"
#include "common/os/processes/host_files.hpp"
#include "supervisor/process/containment/containment_host.hpp"
#include "supervisor/process/containment/proc.hpp"

namespace trainward::containment {
namespace {

// systemd marks what it has delegated.
bool delegated(const std::filesystem::path& group) {
  return ::getxattr(group.c_str(), "trusted.delegate", nullptr, 0) > 0 ||
         ::getxattr(group.c_str(), "user.delegate", nullptr, 0) > 0;
}

Status move_supervisor(const std::filesystem::path& group) {
  const auto pids = host::processes_in(read_proc(group / "cgroup.procs"));
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

Status write_control(const std::filesystem::path& file, std::string_view text) {
  auto fd = open_regular(file, O_WRONLY);
  if (!fd) return propagate(fd);
  return write_all(fd->get(), text, file);
}

bool lists_memory(const std::filesystem::path& file) {
  return host::has_word(read_proc(file), "memory");
}

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

#include "supervisor/daemon/boards/host_offer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

#include "checkpoint/disk/io_queue.hpp"
#include "common/os/fd.hpp"
#include "supervisor/process/containment/containment_host.hpp"
#include "supervisor/process/containment/memory_controller.hpp"

namespace trainward::daemon {
namespace {

namespace fs = std::filesystem;

std::string last_refusal() { return std::generic_category().message(errno); }

// A group can be made where the folder may be written.
std::string may_write(const fs::path& folder) {
  if (folder.empty()) return "not mounted";
  return ::access(folder.c_str(), W_OK) == 0 ? "" : last_refusal();
}

std::string may_open(const char* file) {
  return Fd(::open(file, O_RDONLY | O_NONBLOCK | O_CLOEXEC)) ? "" : last_refusal();
}

std::string memory_controller(const containment::CgroupHost& host) {
  if (!host.memory.empty()) return may_write(host.memory);
  return containment::lists_memory(host.unified / "cgroup.controllers")
             ? ""
             : "not given to this process's group";
}

}  // namespace

std::vector<host::Feature> host_offer() {
  auto offer = host::kernel_features();
  const containment::CgroupHost groups = containment::this_host();
  offer.push_back({"cgroup version 2", "Linux 4.5", "ends all that a worker started",
                   "version 1, or a process group", may_write(groups.unified)});
  offer.push_back({"cgroup version 1", "", "the same without version 2",
                   "version 2, or a process group",
                   may_write(groups.freezer.empty() ? groups.systemd : groups.freezer)});
  offer.push_back({"memory controller", "", "limits.memory", "attempts run without the limit",
                   memory_controller(groups)});
  offer.push_back({"memory pressure", "Linux 4.20", "evidence that memory is short",
                   "an end for want of memory is told later", may_open("/proc/pressure/memory")});
  offer.push_back({"kernel log", "", "evidence: boards, memory, disks", "verdicts without it",
                   may_open("/dev/kmsg")});
  offer.push_back({"io_uring", "Linux 5.6", "many requests of a checkpoint",
                   "plain reads and writes, slower",
                   checkpoint::make_uring_queue() ? "" : "not offered or not allowed"});
  return offer;
}

}  // namespace trainward::daemon

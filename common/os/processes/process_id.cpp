#include "common/os/processes/process_id.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"
#include "common/os/processes/process_files.hpp"

namespace trainward {

Result<ProcessId> identify(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  auto text = read_file(path, 4096);
  if (!text) return propagate(text);
  const auto stat = host::parse_stat(*text);
  if (!stat) return fail(ErrorKind::corrupt, "has no start time", path);
  return ProcessId{pid, static_cast<std::uint64_t>(stat->start_ticks), boot_id()};
}

Result<Fd> open_process(const ProcessId& id) {
  Fd fd(static_cast<int>(::syscall(SYS_pidfd_open, id.pid, 0)));
  if (!fd) return fail_errno(errno, fmt::format("open process {}", id.pid));
  // Compared after opening: from here on the number cannot pass to another process unseen.
  auto found = identify(id.pid);
  if (!found || *found != id) {
    return fail(ErrorKind::permanent, fmt::format("process {} is gone", id.pid));
  }
  return fd;
}

}  // namespace trainward

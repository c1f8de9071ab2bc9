#include "common/os/process_id.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "common/os/clock.hpp"
#include "common/os/file.hpp"

namespace trainward {

std::string_view stat_field(std::string_view stat, int number) {
  const auto close = stat.rfind(')');
  if (close == std::string_view::npos) return {};
  stat.remove_prefix(std::min(close + 2, stat.size()));
  for (int field = 3; field < number; ++field) {
    const auto space = stat.find(' ');
    if (space == std::string_view::npos) return {};
    stat.remove_prefix(space + 1);
  }
  return stat.substr(0, stat.find(' '));
}

Result<ProcessId> identify(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  auto text = read_file(path, 4096);
  if (!text) return propagate(text);
  ProcessId id{pid, 0, boot_id()};
  const std::string_view field = stat_field(*text, 22);
  if (std::from_chars(field.data(), field.data() + field.size(), id.start_ticks).ec !=
      std::errc()) {
    return fail(ErrorKind::corrupt, "has no start time", path);
  }
  return id;
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

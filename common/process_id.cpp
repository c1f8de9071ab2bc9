#include "common/process_id.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>

#include "common/clock.hpp"
#include "common/file.hpp"

namespace trainward {

Result<ProcessId> identify(pid_t pid) {
  const std::string path = fmt::format("/proc/{}/stat", pid);
  auto text = read_file(path, 4096);
  if (!text) return propagate(text);
  // The command name may hold spaces and brackets, so fields are counted after the last ')'.
  const auto close = text->rfind(')');
  if (close == std::string::npos) return fail(ErrorKind::corrupt, "has no command name", path);
  std::size_t position = close + 2;
  for (int field = 3; field < 22; ++field) {
    position = text->find(' ', position);
    if (position == std::string::npos) return fail(ErrorKind::corrupt, "is too short", path);
    ++position;
  }
  ProcessId id{pid, 0, boot_id()};
  const char* first = text->data() + position;
  if (std::from_chars(first, text->data() + text->size(), id.start_ticks).ec != std::errc()) {
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

#include "supervisor/courier/base/courier_lease.hpp"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

#include "common/os/file.hpp"

namespace trainward::courier {

Result<std::optional<Fd>> try_lease(const std::filesystem::path& state_folder) {
  const std::filesystem::path file = state_folder / lease_name;
  auto opened = open_regular(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
  if (!opened) return propagate(opened);
  if (::flock(opened->get(), LOCK_EX | LOCK_NB) == 0) return std::optional(std::move(*opened));
  if (errno == EWOULDBLOCK || errno == EINTR) return std::nullopt;
  return fail_errno(errno, "lock", file.string());
}

}  // namespace trainward::courier

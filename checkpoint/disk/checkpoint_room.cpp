#include "checkpoint/disk/checkpoint_room.hpp"

#include <sys/statvfs.h>

#include <cerrno>

#include "common/base/text.hpp"

namespace trainward::checkpoint {

Status require_room(const std::filesystem::path& folder, std::uint64_t bytes) {
  struct statvfs info {};
  int result = 0;
  do {
    result = ::statvfs(folder.c_str(), &info);
  } while (result != 0 && errno == EINTR);
  // A file system that cannot tell is found out by writing; some report no blocks at all.
  if (result != 0 || info.f_blocks == 0) return {};
  const std::uint64_t free = std::uint64_t{info.f_bavail} * info.f_frsize;
  if (free >= bytes) return {};
  return fail(ErrorKind::permanent,
              fmt::format("the disk is too full: {} needed, {} free, {} missing",
                          human_bytes(bytes), human_bytes(free), human_bytes(bytes - free)),
              folder.string(),
              "free space on it or keep fewer checkpoints (trainwardctl ckpt prune)");
}

std::string room_hint(int error_number, std::uint64_t size) {
  switch (error_number) {
    case ENOSPC:
      return fmt::format("free at least {} or keep fewer checkpoints", human_bytes(size));
    case EDQUOT:
      return "the quota of this user is used up";
    case EFBIG:
      return "raise the file size limit (ulimit -f)";
    case EIO:
      return "the disk is failing: look at the kernel log";
    case EROFS:
    case EACCES:
    case EPERM:
      return "make the checkpoint folder writable for this user";
    default:
      return {};
  }
}

}  // namespace trainward::checkpoint

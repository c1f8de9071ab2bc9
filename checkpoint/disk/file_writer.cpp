#include "checkpoint/disk/file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/file.hpp"
#include "common/text.hpp"

namespace trainward::checkpoint {
namespace {

// Large enough for the disk to be busy, small enough that little is left to do at the fsync.
constexpr std::uint64_t portion_bytes = 8U << 20U;

std::string room_hint(int error_number, std::uint64_t size) {
  switch (error_number) {
    case ENOSPC:
      return fmt::format("free at least {} or keep fewer checkpoints", human_bytes(size));
    case EDQUOT:
      return "the quota of this user is used up";
    case EFBIG:
      return "raise the file size limit (ulimit -f)";
    case EROFS:
    case EACCES:
    case EPERM:
      return "make the checkpoint folder writable for this user";
    default:
      return {};
  }
}

// Finds out that the disk is full before gigabytes are written, and keeps the file in one piece.
Status reserve(int fd, std::uint64_t size, const std::filesystem::path& path) {
  if (size == 0) return {};
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  // Not every file system can reserve; there, write() finds out.
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return {};
  return fail_errno(errno, fmt::format("reserve {}", human_bytes(size)), path.string(),
                    room_hint(errno, size));
}

}  // namespace

Status FileWriter::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = std::min<std::uint64_t>(bytes.size(), portion_bytes);
    const std::string_view portion = bytes.substr(0, size);
    hasher_.update(portion);
    if (auto ok = write_all(fd_.get(), portion, path_); !ok) return ok;
    written_ += size;
    if (written_ - pushed_ >= portion_bytes) {
      // Only a hint to start early; fsync reports what goes wrong.
      ::sync_file_range(fd_.get(), static_cast<off_t>(pushed_),
                        static_cast<off_t>(written_ - pushed_), SYNC_FILE_RANGE_WRITE);
      pushed_ = written_;
    }
    bytes.remove_prefix(size);
  }
  return {};
}

Result<FileEntry> write_file(int folder_fd, const std::filesystem::path& path, std::uint64_t size,
                             const std::function<Status(FileWriter&)>& produce) {
  const std::string name = path.filename().string();
  Status failure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd fd(::openat(folder_fd, name.c_str(), flags, 0644));
    if (!fd) return fail_errno(errno, "create the file", path.string(), room_hint(errno, size));
    FileWriter writer(std::move(fd), path);
    bool sync_failed = false;
    failure = [&]() -> Status {
      if (auto ok = reserve(writer.fd_.get(), size, path); !ok) return ok;
      if (auto ok = produce(writer); !ok) return ok;
      if (writer.written_ != size) {
        return fail(ErrorKind::permanent,
                    fmt::format("got {} bytes to write instead of {}", writer.written_, size),
                    path.string());
      }
      if (::fsync(writer.fd_.get()) == 0) return {};
      sync_failed = true;
      return fail_errno(errno, "fsync the file", path.string(),
                        "the disk refused data: look at the kernel log");
    }();
    if (failure) return FileEntry{name, size, writer.hasher_.finish()};
    ::unlinkat(folder_fd, name.c_str(), 0);
    if (!sync_failed) break;
  }
  return propagate(failure);
}

}  // namespace trainward::checkpoint

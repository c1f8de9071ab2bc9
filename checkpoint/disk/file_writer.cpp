#include "checkpoint/disk/file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "checkpoint/disk/room.hpp"
#include "checkpoint/format/block_hash.hpp"
#include "common/fd.hpp"
#include "common/text.hpp"

namespace trainward::checkpoint {
namespace {

// Finds out that the disk is full before gigabytes are written, and keeps the file in one piece.
Status reserve(int fd, std::uint64_t size, const std::filesystem::path& path) {
  if (size == 0) return {};
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  // Not every file system can reserve; there, writing finds out.
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return {};
  return fail_errno(errno, fmt::format("reserve {}", human_bytes(size)), path.string(),
                    room_hint(errno, size));
}

}  // namespace

Result<FileEntry> write_file(int folder_fd, const std::filesystem::path& path,
                             const FileSource& source, Transfer& transfer) {
  const std::string name = path.filename().string();
  Status failure;
  for (int attempt = 0; attempt < 2; ++attempt) {
    constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    const Fd fd(::openat(folder_fd, name.c_str(), flags, 0644));
    if (!fd) {
      return fail_errno(errno, "create the file", path.string(), room_hint(errno, source.size));
    }
    BlockHasher hasher;
    const auto hash = [&](std::uint64_t, std::span<const std::byte> bytes) -> Status {
      hasher.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      return {};
    };
    bool sync_failed = false;
    failure = reserve(fd.get(), source.size, path);
    if (failure) failure = transfer.write(fd.get(), source, path, hash);
    if (failure && ::fsync(fd.get()) != 0) {
      sync_failed = true;
      failure = fail_errno(errno, "fsync the file", path.string(),
                           "the disk refused data: look at the kernel log");
    }
    if (failure) return FileEntry{name, source.size, hasher.finish()};
    ::unlinkat(folder_fd, name.c_str(), 0);
    if (!sync_failed) break;
  }
  return propagate(failure);
}

}  // namespace trainward::checkpoint

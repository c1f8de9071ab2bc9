#include "checkpoint/disk/file_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "checkpoint/disk/checkpoint_room.hpp"
#include "checkpoint/format/block_hash.hpp"
#include "common/base/text.hpp"
#include "common/os/fd.hpp"

namespace trainward::checkpoint {
namespace {

// Finds out that the disk is full before gigabytes are written, and keeps the file in one piece.
Status reserve(int fd, std::uint64_t size, const std::filesystem::path& path) {
  if (size == 0) return {};
  int result = 0;
  do {
    result = ::fallocate(fd, 0, 0, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  // Not every file system can reserve, and not every container may; there, writing finds out.
  const bool refused = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL || errno == EPERM;
  if (result == 0 || refused) return {};
  return fail_errno(errno, fmt::format("reserve {}", human_bytes(size)), path.string(),
                    room_hint(errno, size));
}

}  // namespace

FileWriter::FileWriter(int folder_fd, std::filesystem::path path, const FileSource& source,
                       Transfer& transfer)
    : folder_fd_(folder_fd),
      path_(std::move(path)),
      source_(source),
      transfer_(transfer),
      entry_{path_.filename().string(), source.size, {}} {}

Status FileWriter::create_and_write() {
  // Created here (O_EXCL), so it cannot be a pipe.
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  fd_ = Fd(::openat(folder_fd_, entry_.name.c_str(), flags, 0644));
  if (!fd_) {
    return fail_errno(errno, "create the file", path_.string(), room_hint(errno, source_.size));
  }
  if (auto ok = reserve(fd_.get(), source_.size, path_); !ok) return ok;
  BlockHasher hasher;
  const auto hash = [&](std::uint64_t, std::span<const std::byte> bytes) -> Status {
    hasher.update({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    return {};
  };
  auto written = transfer_.write(fd_.get(), source_, path_, hash);
  entry_.blocks = hasher.finish();
  return written;
}

Status FileWriter::write() {
  auto written = create_and_write();
  if (!written) ::unlinkat(folder_fd_, entry_.name.c_str(), 0);
  return written;
}

Status FileWriter::make_durable() {
  if (::fsync(fd_.get()) == 0) return {};
  ::unlinkat(folder_fd_, entry_.name.c_str(), 0);
  if (auto again = write(); !again) return again;
  if (::fsync(fd_.get()) == 0) return {};
  const int problem = errno;
  ::unlinkat(folder_fd_, entry_.name.c_str(), 0);
  return fail_errno(problem, "fsync the file", path_.string(),
                    "the disk refused data: look at the kernel log");
}

}  // namespace trainward::checkpoint

#include "checkpoint/disk/folder_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/file.hpp"

namespace trainward::checkpoint {
Result<Fd> open_folder(const std::filesystem::path& folder) {
  auto fd = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (!fd) fd.error().hint = "a checkpoint is a folder such as step-00001234";
  return fd;
}

Result<OpenFile> open_member(int folder_fd, std::string_view name,
                             const std::filesystem::path& folder) {
  const std::string plain(name);
  const std::string where = (folder / plain).string();
  // O_NONBLOCK: opening a pipe somebody put there must not wait for its writer.
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  int fd = -1;
  do {
    fd = ::openat(folder_fd, plain.c_str(), flags);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    if (errno == ENOENT) return fail(ErrorKind::corrupt, "is missing", where);
    if (errno == ELOOP) {
      return fail(ErrorKind::corrupt, "is a symbolic link, which is never followed", where);
    }
    if (errno == ENXIO) return fail(ErrorKind::corrupt, "is not a regular file", where);
    return fail_errno(errno, "open the file", where);
  }
  OpenFile file{Fd(fd), 0};
  struct stat info {};
  if (::fstat(fd, &info) != 0) return fail_errno(errno, "look at the file", where);
  if (!S_ISREG(info.st_mode)) return fail(ErrorKind::corrupt, "is not a regular file", where);
  file.size = static_cast<std::uint64_t>(info.st_size);
  return file;
}

Result<std::string> read_member(const OpenFile& file, std::size_t max_bytes,
                                const std::filesystem::path& where) {
  if (file.size > max_bytes) {
    return fail(ErrorKind::corrupt,
                fmt::format("is {} bytes, more than the {} allowed", file.size, max_bytes),
                where.string());
  }
  std::string text(file.size, '\0');
  auto got = read_at(file.fd.get(), std::as_writable_bytes(std::span(text)), 0, where);
  if (!got) return propagate(got);
  if (*got < text.size()) {
    return fail(ErrorKind::corrupt,
                fmt::format("ends at byte {}, {} bytes short", *got, text.size() - *got),
                where.string());
  }
  return text;
}

}  // namespace trainward::checkpoint

#include "common/os/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace trainward {

Result<Fd> open_file(const std::filesystem::path& path, int flags, unsigned mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) return fail_errno(errno, "open the file", path.string());
  return Fd(fd);
}

namespace {

std::string_view kind_of(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "a folder";
    case S_IFIFO:
      return "a pipe";
    case S_IFSOCK:
      return "a socket";
    case S_IFLNK:
      return "a symbolic link, which is never followed";
    default:
      return "a device";
  }
}

tl::unexpected<Error> not_a_file(mode_t mode, const std::string& where) {
  if (S_ISLNK(mode)) return fail(ErrorKind::corrupt, fmt::format("is {}", kind_of(mode)), where);
  return fail(S_ISDIR(mode) ? ErrorKind::usage : ErrorKind::corrupt,
              fmt::format("is {}, not a file", kind_of(mode)), where);
}

}  // namespace

Result<Fd> open_regular_at(int folder_fd, const std::string& name,
                           const std::filesystem::path& folder, int flags, unsigned mode) {
  const std::string where = (folder / name).string();
  // O_NONBLOCK: neither a pipe's other end nor another program's lease on the file is waited for.
  int fd = -1;
  do {
    fd = ::openat(folder_fd, name.c_str(), flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  const int problem = errno;
  struct stat info {};
  if (fd < 0) {
    // What cannot be opened so (a socket, a pipe without a reader, a folder to be written) is
    // named.
    const int follow = (flags & O_NOFOLLOW) != 0 ? AT_SYMLINK_NOFOLLOW : 0;
    const bool there = ::fstatat(folder_fd, name.c_str(), &info, follow) == 0;
    if (there && problem != EACCES && problem != EEXIST && !S_ISREG(info.st_mode)) {
      return not_a_file(info.st_mode, where);
    }
    return fail_errno(problem, "open the file", where);
  }
  Fd opened(fd);
  if (::fstat(fd, &info) != 0) return fail_errno(errno, "look at the file", where);
  if (!S_ISREG(info.st_mode)) return not_a_file(info.st_mode, where);
  return opened;
}

Result<Fd> open_regular(const std::filesystem::path& path, int flags, unsigned mode) {
  return open_regular_at(AT_FDCWD, path.string(), {}, flags, mode);
}

Result<std::string> read_to_end(int fd, const std::filesystem::path& path, std::size_t max_bytes) {
  std::string bytes;
  // /proc files report size 0, so the loop reads to the end instead of trusting st_size.
  std::string chunk(64 * 1024, '\0');
  for (;;) {
    const ssize_t got = ::read(fd, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read the file", path.string());
    if (got == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(got) > max_bytes) {
      return fail(ErrorKind::corrupt, fmt::format("is longer than the {} bytes allowed", max_bytes),
                  path.string());
    }
    bytes.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  auto fd = open_regular(path, O_RDONLY);
  if (!fd) return propagate(fd);
  return read_to_end(fd->get(), path, max_bytes);
}

Result<std::string> read_stream(const std::filesystem::path& path, std::size_t max_bytes) {
  auto fd = open_file(path, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return not_a_file(info.st_mode, path.string());
  }
  return read_to_end(fd->get(), path, max_bytes);
}

Result<std::size_t> read_at(int fd, std::span<std::byte> into, std::uint64_t at,
                            const std::filesystem::path& where) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(at + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail_errno(errno, fmt::format("read at byte {}", at + done), where.string());
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status write_all(int fd, std::string_view bytes, const std::filesystem::path& where) {
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail_errno(errno, "write the file", where.string());
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Status fsync_folder(const std::filesystem::path& folder) {
  auto fd = open_file(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (!fd) return propagate(fd);
  if (::fsync(fd->get()) != 0) return fail_errno(errno, "fsync the folder", folder.string());
  return {};
}

Status write_file_durably(const std::filesystem::path& path, std::string_view bytes,
                          unsigned mode) {
  const std::filesystem::path temporary =
      path.parent_path() / (path.filename().string() + ".tmp" + std::to_string(::getpid()));
  return write_file_durably(path, temporary, bytes, mode);
}

Status write_file_durably(const std::filesystem::path& path, const std::filesystem::path& temporary,
                          std::string_view bytes, unsigned mode) {
  auto written = [&]() -> Status {
    auto fd = open_regular(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
    if (!fd) return propagate(fd);
    if (auto ok = write_all(fd->get(), bytes, temporary); !ok) return ok;
    if (::fsync(fd->get()) != 0) return fail_errno(errno, "fsync the file", temporary.string());
    return {};
  }();
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0) {
    written = fail_errno(errno, "rename the finished file into place", path.string());
  }
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  return fsync_folder(path.parent_path());
}

Status make_folders(const std::filesystem::path& folder) {
  constexpr mode_t folder_mode = 0750;
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
  if (::mkdir(folder.c_str(), folder_mode) == 0) return {};
  int problem = errno;
  if ((problem == ENOENT || problem == ENOTDIR) && folder.has_parent_path() &&
      folder.parent_path() != folder) {
    if (auto ok = make_folders(folder.parent_path()); !ok) return ok;
    if (::mkdir(folder.c_str(), folder_mode) == 0) return {};
    problem = errno;
  }
  // Another process may have been faster; and "state/" has no name behind its last slash.
  if (std::filesystem::is_directory(folder, error)) return {};
  return fail_errno(problem, "create the folder", folder.string());
}

}  // namespace trainward

#include "common/file.hpp"

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

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  auto fd = open_file(path, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) == 0 && S_ISDIR(info.st_mode)) {
    return fail(ErrorKind::usage, "is a folder, not a file", path.string());
  }
  std::string bytes;
  // /proc files report size 0, so the loop reads to the end instead of trusting st_size.
  std::string chunk(64 * 1024, '\0');
  for (;;) {
    const ssize_t got = ::read(fd->get(), chunk.data(), chunk.size());
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
  auto written = [&]() -> Status {
    auto fd = open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC, mode);
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
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return fail_errno(error.value(), "create the folder", folder.string());
  return {};
}

}  // namespace trainward

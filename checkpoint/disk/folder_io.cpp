#include "checkpoint/disk/folder_io.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/file.hpp"

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
  auto fd = open_regular_at(folder_fd, plain, folder, O_RDONLY | O_NOFOLLOW);
  struct stat info {};
  if (!fd) {
    if (::fstatat(folder_fd, plain.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT) {
      return fail(ErrorKind::corrupt, "is missing", where);
    }
    // A folder in the place of a file is damage here, not a wrong use.
    if (fd.error().kind == ErrorKind::usage) fd.error().kind = ErrorKind::corrupt;
    return propagate(fd);
  }
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "look at the file", where);
  return OpenFile{std::move(*fd), static_cast<std::uint64_t>(info.st_size)};
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

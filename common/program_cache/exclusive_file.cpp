#include "common/program_cache/exclusive_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/fault_point.hpp"
#include "common/os/file.hpp"
#include "common/program_cache/cache_names.hpp"

namespace trainward::program_cache {
namespace fs = std::filesystem;
namespace {

// Readable by all: which programs are cached is no secret, and trainwardctl may be another user.
constexpr unsigned file_mode = 0644;

// Whether the open file is the one at `path`.
bool is_at(int fd, const fs::path& path) {
  struct stat mine {};
  struct stat there {};
  return ::fstat(fd, &mine) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

// True: locked. False: another holds it.
Result<bool> lock(int fd, Wait wait, const fs::path& path) {
  const int how = LOCK_EX | (wait == Wait::no ? LOCK_NB : 0);
  while (::flock(fd, how) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) return fail_errno(errno, "lock the file", path.string());
  }
  return true;
}

struct Temporary {
  Fd fd;
  fs::path path;
};

Result<Temporary> make_temporary(const fs::path& folder, const std::string& name) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    fs::path path = folder / fmt::format("{}{}{}-{}", name, temporary_infix, ::getpid(), attempt);
    auto fd = open_regular(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, file_mode);
    if (!fd) {
      std::error_code ignored;
      if (fs::exists(fs::symlink_status(path, ignored))) continue;
      return propagate(fd);
    }
    auto locked = lock(fd->get(), Wait::no, path);
    if (!locked) return propagate(locked);
    // A sweep may have been faster than the lock.
    if (*locked && is_at(fd->get(), path)) return Temporary{std::move(*fd), std::move(path)};
  }
  return fail(ErrorKind::transient, "cannot find a free name for a new file", folder.string());
}

Status fill(const Temporary& file, std::span<const std::string_view> pieces) {
  for (const std::string_view piece : pieces) {
    // In halves, for the test that kills in between.
    for (const std::string_view half :
         {piece.substr(0, piece.size() / 2), piece.substr(piece.size() / 2)}) {
      fault_point("program_cache.writing");
      if (auto ok = write_all(file.fd.get(), half, file.path); !ok) return ok;
    }
  }
  fault_point("program_cache.written");
  if (::fsync(file.fd.get()) != 0) return fail_errno(errno, "fsync the file", file.path.string());
  return {};
}

}  // namespace

Result<std::optional<Fd>> hold_file(const fs::path& path, Wait wait) {
  for (;;) {
    auto fd = open_regular(path, O_RDWR | O_CREAT | O_NOFOLLOW, file_mode);
    if (!fd) return propagate(fd);
    auto locked = lock(fd->get(), wait, path);
    if (!locked) return propagate(locked);
    if (!*locked) return std::nullopt;
    // The previous holder may have removed the file while we waited: then lock the new one.
    if (is_at(fd->get(), path)) return std::optional<Fd>(std::move(*fd));
  }
}

void release_file(Fd fd, const fs::path& path) {
  // Removed before it is unlocked, else it might be another's by then.
  if (is_at(fd.get(), path)) ::unlink(path.c_str());
}

Status write_whole_file(const fs::path& folder, const std::string& name,
                        std::span<const std::string_view> pieces) {
  auto temporary = make_temporary(folder, name);
  if (!temporary) return propagate(temporary);
  fault_point("program_cache.made");
  auto done = fill(*temporary, pieces);
  fault_point("program_cache.synced");
  const fs::path path = folder / name;
  if (done && ::rename(temporary->path.c_str(), path.c_str()) != 0) {
    done = fail_errno(errno, "rename the finished file into place", path.string());
  }
  if (!done) {
    ::unlink(temporary->path.c_str());
    return done;
  }
  fault_point("program_cache.renamed");
  return fsync_folder(folder);
}

void sweep(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(lock_suffix) && name.find(temporary_infix) == std::string::npos) continue;
    auto fd = open_regular(entry->path(), O_RDWR | O_NOFOLLOW);
    if (!fd) continue;
    auto locked = lock(fd->get(), Wait::no, entry->path());
    if (locked && *locked) release_file(std::move(*fd), entry->path());
  }
}

}  // namespace trainward::program_cache

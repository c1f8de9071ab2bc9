#include "checkpoint/pytorch/archive/output_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "common/os/file.hpp"

namespace trainward::checkpoint::pytorch {
namespace {

// Started early, the write-back of one part runs while the next is prepared.
constexpr std::uint64_t push_bytes = 8ULL << 20U;

}  // namespace

Result<OutputFile> OutputFile::create(const std::filesystem::path& path) {
  if (!path.has_filename() || std::filesystem::is_directory(path)) {
    return fail(ErrorKind::usage, "is a folder, not the name of a file", path.string(),
                "name the file to write");
  }
  std::filesystem::path temporary =
      path.parent_path() / fmt::format(".{}.tmp{}", path.filename().string(), ::getpid());
  ::unlink(temporary.c_str());
  auto fd = open_regular(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
  if (!fd) return propagate(fd);
  return OutputFile(std::move(*fd), path, std::move(temporary));
}

OutputFile::~OutputFile() {
  if (fd_) ::unlink(temporary_.c_str());
}

Status OutputFile::write(std::string_view bytes) {
  if (auto ok = write_all(fd_.get(), bytes, path_); !ok) return ok;
  at_ += bytes.size();
  if (at_ - pushed_ >= push_bytes) {
    // Only a head start: what goes wrong with the bytes is reported by the fsync.
    ::sync_file_range(fd_.get(), static_cast<off_t>(pushed_), static_cast<off_t>(at_ - pushed_),
                      SYNC_FILE_RANGE_WRITE);
    pushed_ = at_;
  }
  return {};
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  return write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Status OutputFile::commit() {
  if (::fsync(fd_.get()) != 0) return fail_errno(errno, "fsync the file", temporary_.string());
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) {
    return fail_errno(errno, "rename the finished file into place", path_.string());
  }
  fd_.reset();
  return fsync_folder(path_.parent_path());
}

}  // namespace trainward::checkpoint::pytorch

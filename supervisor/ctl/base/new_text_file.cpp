#include "supervisor/ctl/base/new_text_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "common/os/file.hpp"

namespace trainward::ctl {
namespace {

constexpr std::size_t written_at_once = 64 * 1024;

}  // namespace

NewTextFile::NewTextFile(std::ostream* out, std::filesystem::path file,
                         std::filesystem::path temporary, Fd fd)
    : out_(out), file_(std::move(file)), temporary_(std::move(temporary)), fd_(std::move(fd)) {}

NewTextFile::NewTextFile(NewTextFile&& other) noexcept
    : out_(other.out_),
      file_(std::move(other.file_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::move(other.fd_)),
      pending_(std::move(other.pending_)) {}

NewTextFile::~NewTextFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

Result<NewTextFile> NewTextFile::open(const std::filesystem::path& file, std::ostream& out) {
  if (file == "-") return NewTextFile(&out, {}, {}, {});
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored) || !file.has_filename()) {
    return fail(ErrorKind::usage, "is a folder", file.string(), "name a file in it");
  }
  const auto folder = file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
  const auto temporary = folder / fmt::format(".{}.new-{}", file.filename().string(), ::getpid());
  auto fd = open_regular(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (!fd) {
    Error error = fd.error();
    error.what = "cannot be written: " + error.what;
    error.where = file.string();
    error.hint = "name a file in a folder that is there and that you may write to, or - for stdout";
    return tl::unexpected<Error>(std::move(error));
  }
  return NewTextFile(nullptr, folder / file.filename(), temporary, std::move(*fd));
}

Status NewTextFile::flush() {
  if (out_ != nullptr) {
    out_->write(pending_.data(), static_cast<std::streamsize>(pending_.size()));
    pending_.clear();
    if (out_->good()) return {};
    return fail(ErrorKind::permanent, "stdout takes no more");
  }
  auto written = write_all(fd_.get(), pending_, file_);
  pending_.clear();
  return written;
}

Status NewTextFile::write(std::string_view text) {
  pending_ += text;
  return pending_.size() < written_at_once ? Status() : flush();
}

Status NewTextFile::finish() {
  if (auto flushed = flush(); !flushed) return flushed;
  if (out_ != nullptr) {
    out_->flush();
    return {};
  }
  if (::fsync(fd_.get()) != 0 || ::rename(temporary_.c_str(), file_.c_str()) != 0) {
    return fail_errno(errno, "write it", file_.string());
  }
  temporary_.clear();
  return fsync_folder(file_.parent_path());
}

}  // namespace trainward::ctl

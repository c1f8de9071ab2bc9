#include "supervisor/courier/upload/folder/copy_bytes.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace trainward::upload {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t portion = 16 << 20;
constexpr std::int64_t buffer_bytes = 1 << 20;

// What a file system answers that cannot copy by itself.
bool cannot_copy(int error) {
  return error == EXDEV || error == ENOSYS || error == EOPNOTSUPP || error == EINVAL ||
         error == EPERM || error == EBADF;
}

class Copier {
 public:
  Copier(int source, int copy, const std::filesystem::path& where)
      : source_(source), copy_(copy), where_(where) {}

  // How many were copied at `at`, at least one.
  Result<std::int64_t> some(std::int64_t at, std::int64_t most) {
    if (in_kernel_) {
      off_t in = at;
      off_t out = at;
      const ssize_t done =
          ::copy_file_range(source_, &in, copy_, &out, static_cast<std::size_t>(most), 0);
      if (done > 0) return done;
      // Some file systems answer 0 for what they cannot copy: reading tells whether it is the end.
      if (done < 0 && errno == EINTR) return std::int64_t{0};
      if (done < 0 && !cannot_copy(errno)) return fail_io(errno, "copy to", where_);
      in_kernel_ = false;
    }
    return by_hand(at, std::min(most, buffer_bytes));
  }

 private:
  Result<std::int64_t> by_hand(std::int64_t at, std::int64_t most) {
    buffer_.resize(static_cast<std::size_t>(buffer_bytes));
    const ssize_t read = ::pread(source_, buffer_.data(), static_cast<std::size_t>(most), at);
    if (read < 0 && errno == EINTR) return std::int64_t{0};
    if (read < 0) return fail_io(errno, "read what is to be copied to", where_);
    if (read == 0) {
      return fail(ErrorKind::corrupt, "its source ended before all of it was copied",
                  where_.string());
    }
    for (ssize_t done = 0; done < read;) {
      const ssize_t written =
          ::pwrite(copy_, buffer_.data() + done, static_cast<std::size_t>(read - done), at + done);
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return fail_io(errno, "write", where_);
      done += written;
    }
    return read;
  }

  int source_;
  int copy_;
  const std::filesystem::path& where_;
  bool in_kernel_ = true;
  std::vector<char> buffer_;
};

// Until the bytes so far are no more than the limit allows, or an end is asked for.
void keep_pace(Clock::time_point began, std::int64_t bytes, const TargetOptions& options) {
  if (options.bytes_per_second <= 0) return;
  const auto due =
      began +
      std::chrono::milliseconds(static_cast<std::int64_t>(
          static_cast<double>(bytes) * 1000.0 / static_cast<double>(options.bytes_per_second)));
  std::mutex mutex;
  std::condition_variable_any until;
  std::unique_lock lock(mutex);
  until.wait_until(lock, options.stop, due, [] { return false; });
}

// A file on a network file system that went away answers with these; on a disk that fails nothing
// is lost by another try.
bool comes_back(int error) {
  return error == EIO || error == ESTALE || error == EHOSTDOWN || error == ENOTCONN;
}

}  // namespace

tl::unexpected<Error> fail_io(int error, std::string_view action,
                              const std::filesystem::path& where) {
  if (!comes_back(error)) return fail_errno(error, action, where.string());
  auto failure = fail_errno(error, action, where.string(),
                            "the network or the disk behind it is away, or damaged");
  failure.value().kind = ErrorKind::transient;
  return failure;
}

Status copy_bytes(int source, int copy, std::int64_t from, std::int64_t size,
                  const TargetOptions& options, const std::filesystem::path& where,
                  const Progress& progress) {
  Copier copier(source, copy, where);
  const auto began = Clock::now();
  // A quarter of a second's worth, so that neither the line nor the progress goes in jerks.
  const std::int64_t most =
      options.bytes_per_second <= 0
          ? portion
          : std::clamp<std::int64_t>(options.bytes_per_second / 4, 4096, portion);
  for (std::int64_t done = 0; done < size;) {
    if (options.stop.stop_requested()) return fail(ErrorKind::transient, "stopped", where.string());
    auto copied = copier.some(from + done, std::min(most, size - done));
    if (!copied) return propagate(copied);
    done += *copied;
    if (progress) progress(from + done);
    keep_pace(began, done, options);
  }
  return {};
}

}  // namespace trainward::upload

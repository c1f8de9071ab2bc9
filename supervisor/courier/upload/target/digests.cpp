#include "supervisor/courier/upload/target/digests.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <future>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "common/base/digest.hpp"
#include "common/os/file.hpp"

namespace trainward::upload {
namespace {

// Read before they are sent: enough that nobody waits, few enough to be in the page cache still.
constexpr std::size_t parts_ahead = 4;
constexpr std::int64_t buffer_bytes = 1 << 20;
constexpr std::size_t all_parts = std::numeric_limits<std::size_t>::max();

}  // namespace

std::shared_ptr<Digests> Digests::of(int file, std::int64_t size, std::int64_t part_bytes,
                                     std::filesystem::path where, std::stop_token stop) {
  return std::shared_ptr<Digests>(
      new Digests(part_bytes, {file, size, std::move(where), std::move(stop)}));
}

std::shared_ptr<Digests> Digests::kept(std::int64_t part_bytes, std::string whole,
                                       std::vector<std::string> parts) {
  std::shared_ptr<Digests> out(new Digests(part_bytes, {}));
  out->whole_ = std::move(whole);
  out->parts_ = std::move(parts);
  return out;
}

Result<std::optional<std::string>> Digests::part(std::size_t index) {
  std::unique_lock lock(mutex_);
  if (!whole_ && index > parts_.size() + parts_ahead) {
    want(all_parts);  // of what has arrived before, so that it catches up
    return std::optional<std::string>();
  }
  want(index + 1 + parts_ahead);
  changed_.wait(lock, [&] { return parts_.size() > index || failed_; });
  if (parts_.size() > index) return std::optional(parts_[index]);
  return tl::unexpected<Error>(*failed_);
}

Result<std::string> Digests::whole() {
  std::unique_lock lock(mutex_);
  want(all_parts);
  changed_.wait(lock, [&] { return whole_ || failed_; });
  if (whole_) return *whole_;
  return tl::unexpected<Error>(*failed_);
}

std::optional<std::string> Digests::whole_if_taken() const {
  const std::lock_guard lock(mutex_);
  return whole_;
}

std::vector<std::string> Digests::parts() const {
  const std::lock_guard lock(mutex_);
  return parts_;
}

// Under the lock.
void Digests::want(std::size_t parts) {
  if (whole_ || failed_) return;
  wanted_ = std::max(wanted_, parts);
  if (!thread_.joinable()) {
    Fd file(::fcntl(source_.file, F_DUPFD_CLOEXEC, 0));
    if (!file) {
      failed_ = fail_errno(errno, "read", source_.where.string()).value();
      return;
    }
    thread_ = std::jthread(
        [this, file = std::move(file)](const std::stop_token& ended) { take(file, ended); });
  }
  changed_.notify_all();
}

void Digests::take(const Fd& file, const std::stop_token& ended) {
  auto whole = [&]() -> Result<std::string> {
    try {
      return read_all(file, ended);
    } catch (const std::exception& error) {  // no memory, or no thread to be had
      return fail(ErrorKind::transient, std::string("cannot be read now: ") + error.what(),
                  source_.where.string());
    }
  }();
  const std::lock_guard lock(mutex_);
  if (whole) {
    whole_ = std::move(*whole);
  } else {
    failed_ = std::move(whole.error());
  }
  changed_.notify_all();
}

Result<std::string> Digests::read_all(const Fd& file, const std::stop_token& ended) {
  const std::int64_t size = source_.size;
  const std::filesystem::path& where = source_.where;
  std::vector<char> buffer(static_cast<std::size_t>(std::min(buffer_bytes, part_bytes_)));
  Sha256 whole;
  Sha256 part;
  std::int64_t offset = 0;
  for (std::size_t index = 0; offset < size; ++index) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, ended, [&] { return wanted_ > index; });
    }
    const std::int64_t end = std::min(offset + part_bytes_, size);
    while (offset < end) {
      if (ended.stop_requested() || source_.stop.stop_requested()) {
        return fail(ErrorKind::transient, "stopped", where.string());
      }
      const auto most = static_cast<std::size_t>(
          std::min<std::int64_t>(end - offset, static_cast<std::int64_t>(buffer.size())));
      auto got = read_at(file.get(), std::as_writable_bytes(std::span(buffer).first(most)),
                         static_cast<std::uint64_t>(offset), where);
      if (!got) return propagate(got);
      if (*got < most) {
        return fail(ErrorKind::corrupt, "ends before all of it was read", where.string());
      }
      const std::string_view bytes(buffer.data(), most);
      auto of_part = std::async(std::launch::async, [&] { part.update(bytes); });
      whole.update(bytes);
      of_part.get();
      offset += static_cast<std::int64_t>(most);
    }
    const std::lock_guard lock(mutex_);
    parts_.push_back(part.finish());
    changed_.notify_all();
  }
  return whole.finish();
}

}  // namespace trainward::upload

#include "supervisor/process/shim/disk/log_ring.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainward::shim {
namespace {

constexpr std::size_t kept_bytes = 16 * 1024;
// What is written at once: large enough for the disk, small enough for a processor's cache.
constexpr std::size_t chunk_bytes = 128 * 1024;

}  // namespace

Result<LogRing> LogRing::make() {
  void* memory = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return fail_errno(errno, "get memory for a log");
  // Never in huge pages: most workers print a few lines a second.
  ::madvise(memory, capacity, MADV_NOHUGEPAGE);
  return LogRing(static_cast<char*>(memory));
}

LogRing::LogRing(LogRing&& other) noexcept
    : memory_(std::exchange(other.memory_, nullptr)),
      head_(other.head_),
      tail_(other.tail_),
      claimed_(other.claimed_),
      consumed_(other.consumed_),
      touched_(other.touched_) {}

LogRing::~LogRing() {
  if (memory_ != nullptr) ::munmap(memory_, capacity);
}

std::span<char> LogRing::space() {
  if (head_ == tail_) head_ = tail_ = claimed_ = 0;
  const std::size_t at = head_ % capacity;
  return {memory_ + at, std::min({capacity - used(), capacity - at, chunk_bytes})};
}

void LogRing::commit(std::size_t bytes) {
  head_ += bytes;
  touched_ = std::max(touched_, (head_ - 1) % capacity + 1);
}

HalfLine LogRing::take_back_half_line() {
  const auto newline_at_end = [&] { return head_ == 0 || memory_[(head_ - 1) % capacity] == '\n'; };
  const std::uint64_t before = head_;
  while (head_ > claimed_ && !newline_at_end()) --head_;
  return {static_cast<std::size_t>(before - head_), newline_at_end()};
}

void LogRing::shrink() {
  if (head_ != tail_ || touched_ <= kept_bytes) return;
  ::madvise(memory_ + kept_bytes, capacity - kept_bytes, MADV_DONTNEED);
  touched_ = 0;
}

std::string_view LogRing::claim() {
  const std::size_t at = tail_ % capacity;
  const std::size_t size = std::min({used(), capacity - at, chunk_bytes});
  claimed_ = tail_ + size;
  return {memory_ + at, size};
}

void LogRing::release(std::size_t bytes) {
  tail_ += bytes;
  consumed_ += bytes;
}

}  // namespace trainward::shim

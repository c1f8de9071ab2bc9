#include "supervisor/process/shim/disk/log_intake.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace trainward::shim {
namespace {

// The most an unprivileged process may ask for unless the administrator changed it.
constexpr int wanted_pipe_bytes = 1024 * 1024;
// A worker that floods its log must not starve its own heartbeats.
constexpr int reads_a_turn = 4;
constexpr std::size_t scratch_bytes = 16 * 1024;

}  // namespace

LogIntake::LogIntake(Fd pipe, Stream stream, DiskWriter& disk)
    : pipe_(std::move(pipe)), stream_(stream), disk_(&disk) {
  ::fcntl(pipe_.get(), F_SETPIPE_SZ, wanted_pipe_bytes);
  if (const int size = ::fcntl(pipe_.get(), F_GETPIPE_SZ); size > 0) {
    pipe_bytes_ = static_cast<std::size_t>(size);
  }
}

bool LogIntake::pump(std::int64_t now_ms) {
  look_again_ = false;
  std::size_t taken = 0;
  for (int turn = 0; turn < reads_a_turn && pipe_; ++turn) {
    if (discarding_) {
      if (!discard()) return false;
      continue;
    }
    const std::span<char> space = disk_->space(stream_);
    if (space.empty()) {
      look_again_ = true;
      if (!blocked(now_ms)) return false;
      continue;
    }
    blocked_since_ms_ = 0;
    const ssize_t got = ::read(pipe_.get(), space.data(), space.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      pipe_.reset();
      return false;
    }
    disk_->commit(stream_, static_cast<std::size_t>(got));
    taken += static_cast<std::size_t>(got);
    if (static_cast<std::size_t>(got) < space.size()) break;  // empty, or nearly
  }
  // Busy, but with room left in the pipe: the next gulp in a millisecond, not at the next line.
  const bool busy = taken > 0 && now_ms - last_pump_ms_ <= 2;
  look_again_ = look_again_ || (busy && taken < pipe_bytes_ / 8 && pipe_);
  last_pump_ms_ = now_ms;
  return taken > 0;
}

// No room in memory. True when the disk has stood still for too long, and dropping begins.
bool LogIntake::blocked(std::int64_t now_ms) {
  const std::uint64_t progress = disk_->progress(stream_);
  if (blocked_since_ms_ == 0 || progress != blocked_progress_) {
    blocked_since_ms_ = now_ms;
    blocked_progress_ = progress;
    return false;
  }
  if (now_ms - blocked_since_ms_ < stall_ms) return false;
  blocked_since_ms_ = 0;
  discarding_ = true;
  dropped_ = {};
  // The half line in front of the gap goes as well, unless the disk has begun on it.
  const HalfLine half = disk_->take_back_half_line(stream_);
  dropped_.bytes += half.bytes;
  disk_->count_dropped({half.bytes, 0});
  cut_ = !half.ends_with_newline;
  skip_line_ = cut_ || half.bytes > 0;
  return true;
}

// Reads a chunk to drop it, or to go on behind the next newline when the disk moves again.
bool LogIntake::discard() {
  std::array<char, scratch_bytes> scratch;
  const ssize_t got = ::read(pipe_.get(), scratch.data(), scratch.size());
  if (got < 0) return errno == EINTR;
  if (got == 0) {
    // What was dropped is to be told even if the worker has ended meanwhile.
    look_again_ = disk_->backlog(stream_) > LogRing::capacity / 2;
    if (look_again_) return false;
    pipe_.reset();
    resume("");
    return false;
  }
  const std::string_view bytes(scratch.data(), static_cast<std::size_t>(got));
  const auto newline = bytes.find('\n');
  const bool room = disk_->backlog(stream_) <= LogRing::capacity / 2;
  if (!room || (skip_line_ && newline == std::string_view::npos)) {
    drop(bytes);
    return true;
  }
  const std::size_t skip = skip_line_ ? newline + 1 : 0;
  drop(bytes.substr(0, skip));
  resume(bytes.substr(skip));
  return true;
}

void LogIntake::drop(std::string_view bytes) {
  if (bytes.empty()) return;
  const Dropped more{bytes.size(),
                     static_cast<std::uint64_t>(std::count(bytes.begin(), bytes.end(), '\n'))};
  dropped_.bytes += more.bytes;
  dropped_.lines += more.lines;
  disk_->count_dropped(more);
  skip_line_ = bytes.back() != '\n';
}

void LogIntake::resume(std::string_view rest) {
  discarding_ = false;
  std::string text = cut_ ? "\n" : "";
  text += drop_notice(dropped_, "the disk stalled");
  text += rest;
  std::string_view left = text;
  while (!left.empty()) {
    const std::span<char> space = disk_->space(stream_);
    const std::size_t part = std::min(space.size(), left.size());
    if (part == 0) return;
    std::memcpy(space.data(), left.data(), part);
    disk_->commit(stream_, part);
    left.remove_prefix(part);
  }
}

}  // namespace trainward::shim

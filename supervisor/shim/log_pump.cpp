#include "supervisor/shim/log_pump.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "common/file.hpp"

namespace trainward::shim {

Result<LogPump> LogPump::open(Fd pipe, const std::filesystem::path& file) {
  auto log = open_file(file, O_WRONLY | O_CREAT | O_APPEND, 0640);
  if (!log) return propagate(log);
  return LogPump(std::move(pipe), std::move(*log));
}

bool LogPump::pump() {
  std::array<char, 64 * 1024> chunk{};
  // Bounded, so that a worker that floods its log cannot starve its own heartbeats.
  for (int turn = 0; turn < 16 && pipe_; ++turn) {
    const ssize_t got = ::read(pipe_.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      pipe_.reset();
      return false;
    }
    std::size_t put = 0;
    while (put < static_cast<std::size_t>(got)) {
      const ssize_t wrote =
          ::write(file_.get(), chunk.data() + put, static_cast<std::size_t>(got) - put);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote <= 0) break;
      put += static_cast<std::size_t>(wrote);
    }
    dropped_bytes_ += static_cast<std::uint64_t>(got) - put;
  }
  return static_cast<bool>(pipe_);
}

}  // namespace trainward::shim

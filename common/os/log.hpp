// Where the daemon's own log goes: stderr in a terminal or container, journald under systemd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainward {

enum class LogTarget { automatic, standard_error, journald };

// `automatic` picks journald when stderr is connected to it ($JOURNAL_STREAM), stderr otherwise.
// Called once by main() before any other thread exists. Level: trace debug info warning error.
// The newest of it, each line with its time, stays in memory as well.
void set_up_logging(std::string_view program, LogTarget target, std::string_view level);

inline constexpr std::size_t recent_log_bytes = 256 * 1024;

// At most `limit` bytes of the log since the start of this process, from `offset` on; a negative
// offset counts from the end. Only whole lines are forgotten. Nothing before set_up_logging().
struct RecentLog {
  std::string bytes;
  std::int64_t begin = 0;  // offset of bytes[0]; later than asked for where that was forgotten
  std::int64_t end = 0;    // the offset behind the newest byte
};
RecentLog recent_log(std::int64_t offset, std::int64_t limit);

}  // namespace trainward

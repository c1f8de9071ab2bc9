// Bytes of a log: from the daemon, or, if none runs, from the files that it left.
#pragma once

#include <chrono>
#include <string>

#include "supervisor/ctl/client/source.hpp"

namespace trainward::ctl {

struct LogPiece {
  std::string bytes;
  std::int64_t offset = 0;   // of bytes[0]
  std::int64_t size = 0;     // of the whole log
  std::int64_t attempt = 0;  // whose log
  bool from_files = false;   // no daemon answers
};

struct LogQuery {
  std::string program;       // empty: the daemon's own log
  std::string stream;        // "stdout" or "stderr"
  std::int64_t attempt = 0;  // 0: the newest
  std::int64_t offset = 0;   // negative: from the end
  std::int64_t limit = 0;
};

Answer<LogPiece> read_log_piece(const Context& context, const LogQuery& query,
                                std::chrono::milliseconds deadline = short_deadline);

}  // namespace trainward::ctl

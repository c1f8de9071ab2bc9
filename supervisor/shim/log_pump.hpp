// From one of the worker's output pipes to its log file.
//
// The worker must never be held up: whatever the file does, the pipe is emptied. Bytes that the
// file refuses (a full disk) are dropped and counted.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/error.hpp"
#include "common/fd.hpp"

namespace trainward::shim {

class LogPump {
 public:
  // `pipe`: the non-blocking read end.
  static Result<LogPump> open(Fd pipe, const std::filesystem::path& file);

  // Moves what is there, at most about 1 MiB; false at the end of the pipe.
  bool pump();

  [[nodiscard]] int pipe() const { return pipe_.get(); }  // -1 after the end
  [[nodiscard]] std::uint64_t dropped_bytes() const { return dropped_bytes_; }

 private:
  LogPump(Fd pipe, Fd file) : pipe_(std::move(pipe)), file_(std::move(file)) {}
  Fd pipe_;
  Fd file_;
  std::uint64_t dropped_bytes_ = 0;
};

}  // namespace trainward::shim

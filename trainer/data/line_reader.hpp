// The lines of a file, one at a time, each whole.
//
// In: a descriptor at its beginning. Out: lines without their '\n', numbered from 1; of a line
// longer than the limit its beginning, marked. Memory: one line and a buffer of 1 MiB. Errors: what
// reading says.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::trainer {

class LineReader {
 public:
  struct Line {
    std::string_view text;  // valid until the next call
    std::int64_t number = 0;
    bool too_long = false;  // the rest was passed over
  };

  LineReader(Fd fd, std::filesystem::path path, std::size_t max_line_bytes)
      : fd_(std::move(fd)), path_(std::move(path)), max_line_bytes_(max_line_bytes) {}

  // Nothing at the end of the file. A last line needs no '\n'.
  Result<std::optional<Line>> next();

  // Of the file, up to the end of the line that was returned last.
  [[nodiscard]] std::uint64_t bytes_done() const { return taken_ - (buffer_.size() - at_); }

 private:
  Result<bool> refill();

  Fd fd_;
  std::filesystem::path path_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t at_ = 0;  // in the buffer: up to here lines were returned
  std::uint64_t taken_ = 0;
  std::string line_;  // what the buffer could not hold in one piece
  std::int64_t number_ = 0;
};

}  // namespace trainward::trainer

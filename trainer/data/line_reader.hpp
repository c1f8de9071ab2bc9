// The lines of a file, one at a time, each whole.
//
// In: a file at its beginning (text/text_file.hpp). Out: lines without their '\n', numbered from 1;
// of a line longer than the limit its beginning, marked. Memory: one line and a buffer of 1 MiB.
// Errors: what reading says.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "trainer/data/text/text_file.hpp"

namespace trainward::trainer {

class LineReader {
 public:
  struct Line {
    std::string_view text;  // valid until the next call
    std::int64_t number = 0;
    bool too_long = false;  // the rest was passed over
  };

  LineReader(TextFile file, std::size_t max_line_bytes)
      : file_(std::move(file)), max_line_bytes_(max_line_bytes) {}

  // Nothing at the end of the file. A last line needs no '\n'.
  Result<std::optional<Line>> next();

  // Of the file on the disk, up to the end of the line that was returned last; of a packed one a
  // little more.
  [[nodiscard]] std::uint64_t bytes_done() const {
    return file_.packed() ? file_.bytes_taken() : taken_ - (buffer_.size() - at_);
  }

 private:
  Result<bool> refill();

  TextFile file_;
  std::size_t max_line_bytes_;
  std::string buffer_;
  std::size_t at_ = 0;       // in the buffer: up to here lines were returned
  std::uint64_t taken_ = 0;  // of the text
  std::string line_;         // what the buffer could not hold in one piece
  std::int64_t number_ = 0;
};

}  // namespace trainward::trainer

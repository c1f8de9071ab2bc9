// Lines that are no documents, put aside with the reason.
//
// Out: a JSONL file, one line each: {"file": "a.jsonl", "line": 17, "reason": "…", "text": "…"}.
// `text` is the line itself; bytes that are not UTF-8 show as U+FFFD, and of a very long one only
// the beginning is kept ("cut": true): file and line number lead to the original. The file is made,
// or emptied, when the first line comes, so that no bad line means no file. After `max_lines` more
// are counted, not written. Errors: what writing says. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/base/error.hpp"
#include "common/os/fd.hpp"

namespace trainward::trainer {

struct BadLine {
  std::filesystem::path file;
  std::int64_t number = 0;
  std::string reason;
  std::string_view text;
};

class Quarantine {
 public:
  static constexpr std::int64_t max_lines = 100'000;
  static constexpr std::size_t max_text_bytes = 64 * 1024;

  explicit Quarantine(std::filesystem::path path) : path_(std::move(path)) {}

  Status put(const BadLine& line);
  [[nodiscard]] std::int64_t lines() const { return lines_; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Fd fd_;
  std::int64_t lines_ = 0;
};

}  // namespace trainward::trainer

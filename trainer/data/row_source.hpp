// The rows of one file of JSON, as text: its lines, or the elements of the one array that it is.
//
// In: a file, packed or not (text/text_file.hpp). An array is known by how the file begins, in a
// *.jsonl too: only where its first line is a whole array and others follow are its lines the rows.
// Out: each row, numbered from 1. Errors: those of TextFile; corrupt, where an array is not whole
// or too long: no row comes after that. Memory: a line, or all of an array. One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "common/base/error.hpp"

namespace trainward::trainer {

inline constexpr std::size_t max_line_bytes = std::size_t{64} << 20U;
inline constexpr std::uint64_t max_array_bytes = std::uint64_t{1} << 30U;

class RowSource {
 public:
  struct Row {
    std::string_view text;  // valid until the next call
    std::int64_t number = 0;
    bool too_long = false;  // a line; the rest was passed over
  };

  virtual ~RowSource() = default;
  // Nothing behind the last.
  virtual Result<std::optional<Row>> next() = 0;
  // Of the file on the disk, about up to the row that was returned last.
  [[nodiscard]] virtual std::uint64_t bytes_done() const = 0;
};

Result<std::unique_ptr<RowSource>> open_rows(const std::filesystem::path& path);

// By its name: *.jsonl or *.ndjson, which may be packed.
bool is_lines_by_name(const std::filesystem::path& path);

}  // namespace trainward::trainer

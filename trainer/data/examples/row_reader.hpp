// Rows of JSON, one by one, from files.
//
// In: the paths that `data` names: files, and folders searched for *.jsonl, *.ndjson and *.json,
// packed or not. A file holds an object a line, or one array of them (row_source.hpp). Out: each
// row, through a port, in order; a file reached from two paths counts once. Not fatal, and counted:
// a malformed row, or one that the port calls corrupt, goes to the port bad_row with its number
// (line or element, from 1); a file that cannot be read, or holds no good row, to unread(). Errors:
// usage or permanent, when a path yields no row at all; usage, with the file, where it is packed
// and damaged, or other data than its name says; whatever a port returns otherwise. Memory: one
// line, or one file that is an array. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "trainer/data/data_files.hpp"
#include "trainer/data/quarantine.hpp"

namespace trainward::trainer {

struct RowPorts {
  std::function<Status(const json::value& row)> row;
  std::function<Status(const BadLine&)> bad_row;  // may be empty
  // Bytes read and to read; an error ends the reading. May be empty.
  std::function<Status(std::uint64_t done, std::uint64_t total)> progress;
};

// By its name: *.jsonl, *.ndjson or *.json, which may be packed (*.jsonl.gz).
bool holds_rows(const std::filesystem::path& path);

class RowReader {
 public:
  explicit RowReader(RowPorts ports) : ports_(std::move(ports)) {}

  Status read(std::span<const std::string> paths);

  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t bad_rows() const { return bad_rows_; }
  // "FILE:ROW: reason"; empty if no row was bad.
  [[nodiscard]] const std::string& first_bad_row() const { return first_bad_row_; }
  [[nodiscard]] const std::vector<Unread>& unread() const { return unread_; }

 private:
  Status read_path(const std::string& path, const FileList& found);
  Status read_file_of_rows(const FoundFile& file);
  Status read_rows(const FoundFile& file);
  Status offer(const FoundFile& file, std::string_view text, std::int64_t number);
  Status tell_bad(const BadLine& row);
  Status advance(std::uint64_t bytes);

  RowPorts ports_;
  std::set<std::pair<dev_t, ino_t>> taken_;
  std::int64_t rows_ = 0;
  std::int64_t bad_rows_ = 0;
  std::string first_bad_row_;
  std::string first_of_file_;  // "row 3: why", of the file that is read
  std::vector<Unread> unread_;
  std::uint64_t bytes_ = 0;
  std::uint64_t total_bytes_ = 0;
};

}  // namespace trainward::trainer

#include "trainer/data/examples/row_reader.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <span>

#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/data/byte_order_mark.hpp"
#include "trainer/data/document_reader.hpp"
#include "trainer/data/examples/json_rows.hpp"
#include "trainer/data/line_reader.hpp"

namespace trainward::trainer {
namespace {

bool is_lines_by_name(const std::filesystem::path& path) {
  const std::string extension = path.extension().string();
  return extension == ".jsonl" || extension == ".ndjson";
}

// By its first bytes; a file that cannot be opened is none: reading its lines will say why.
bool begins_as_array(const FoundFile& file) {
  if (is_lines_by_name(file.path)) return false;
  auto fd = open_file(file.path, O_RDONLY | O_NONBLOCK);
  if (!fd) return false;
  std::array<char, 4096> bytes{};
  const auto got = read_at(fd->get(), std::as_writable_bytes(std::span(bytes)), 0, file.path);
  return got && is_json_array(std::string_view(bytes.data(), *got));
}

}  // namespace

bool holds_rows(const std::filesystem::path& path) {
  return is_lines_by_name(path) || path.extension() == ".json";
}

Status RowReader::advance(std::uint64_t bytes) {
  bytes_ += bytes;
  return ports_.progress ? ports_.progress(bytes_, std::max(bytes_, total_bytes_)) : Status();
}

Status RowReader::tell_bad(const BadLine& row) {
  if (first_of_file_.empty()) first_of_file_ = fmt::format("row {}: {}", row.number, row.reason);
  if (bad_rows_++ == 0) {
    first_bad_row_ = fmt::format("{}:{}: {}", row.file.string(), row.number, row.reason);
  }
  return ports_.bad_row ? ports_.bad_row(row) : Status();
}

Status RowReader::offer(const FoundFile& file, std::string_view text, std::int64_t number) {
  if (trim(text).empty()) return {};
  auto value = parse_json(text, "");
  if (!value) return tell_bad({file.path, number, value.error().what, text});
  auto ok = ports_.row(*value);
  if (!ok && ok.error().kind == ErrorKind::corrupt) {
    return tell_bad({file.path, number, ok.error().what, text});
  }
  if (ok) ++rows_;
  return ok;
}

Status RowReader::read_lines(const FoundFile& file) {
  auto fd = open_file(file.path, O_RDONLY);
  if (!fd) {
    unread_.push_back({file.path, fd.error().what});
    return {};
  }
  LineReader lines(std::move(*fd), file.path, max_line_bytes);
  const std::int64_t before = rows_;
  std::uint64_t told = 0;
  for (;;) {
    auto line = lines.next();
    if (!line) {
      unread_.push_back({file.path, fmt::format("{}, after {}", line.error().what,
                                                count(rows_ - before, "row"))});
      return {};
    }
    if (!*line) return {};
    std::string_view text = (*line)->text;
    if ((*line)->number == 1) text = without_byte_order_mark(text);
    auto ok =
        (*line)->too_long
            ? tell_bad({file.path, (*line)->number,
                        fmt::format("is longer than the {} allowed", human_bytes(max_line_bytes)),
                        text})
            : offer(file, text, (*line)->number);
    if (ok) ok = advance(lines.bytes_done() - told);
    if (!ok) return ok;
    told = lines.bytes_done();
  }
}

Status RowReader::read_array(const FoundFile& file) {
  auto text = read_file(file.path, max_array_bytes);
  if (!text) {
    const bool too_long = text.error().kind == ErrorKind::corrupt;
    unread_.push_back({file.path,
                       too_long ? fmt::format("is an array of more than {}; a row a line (.jsonl) "
                                              "has no such limit",
                                              human_bytes(max_array_bytes))
                                : text.error().what,
                       too_long});
    return {};
  }
  JsonRows elements(*text);
  const std::int64_t before = rows_;
  std::uint64_t told = 0;
  for (;;) {
    auto element = elements.next();
    if (!element) {
      unread_.push_back(
          {file.path,
           fmt::format("{}, after {}", element.error().what, count(rows_ - before, "row")), true});
      return {};
    }
    if (!*element) return {};
    auto ok = offer(file, (*element)->text, (*element)->number);
    if (ok) ok = advance(elements.bytes_done() - told);
    if (!ok) return ok;
    told = elements.bytes_done();
  }
}

Status RowReader::read_file_of_rows(const FoundFile& file) {
  const std::int64_t good = rows_;
  const std::int64_t bad = bad_rows_;
  const std::size_t unread = unread_.size();
  first_of_file_.clear();
  auto ok = begins_as_array(file) ? read_array(file) : read_lines(file);
  if (!ok) return ok;
  if (rows_ == good && bad_rows_ > bad && unread_.size() == unread) {
    unread_.push_back({file.path,
                       fmt::format("has no good row; {} bad, the first {}",
                                   count(bad_rows_ - bad, "row"), first_of_file_),
                       true});
  }
  return {};
}

Status RowReader::read_path(const std::string& path, const FileList& found) {
  const std::size_t before = unread_.size();
  unread_.insert(unread_.end(), found.unread.begin(), found.unread.end());
  bool any = false;
  for (const FoundFile& file : found.files) {
    if (file.path != path && !holds_rows(file.path)) {
      unread_.push_back({file.path, "is neither .jsonl nor .ndjson nor .json", true});
      continue;
    }
    if (!taken_.insert(file.identity).second) {
      any = true;
      continue;
    }
    const std::int64_t good = rows_;
    if (auto ok = read_file_of_rows(file); !ok) return ok;
    any = any || rows_ > good;
  }
  if (any) return {};
  return nothing_to_read(path,
                         {unread_.begin() + static_cast<std::ptrdiff_t>(before), unread_.end()});
}

Status RowReader::read(std::span<const std::string> paths) {
  std::vector<FileList> all;
  for (const std::string& path : paths) {
    auto found = find_files(path);
    if (!found) return propagate(found);
    for (const FoundFile& file : found->files) total_bytes_ += file.bytes;
    all.push_back(std::move(*found));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (auto ok = read_path(paths[i], all[i]); !ok) return ok;
  }
  return {};
}

}  // namespace trainward::trainer

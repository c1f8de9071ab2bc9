#include "trainer/data/examples/row_reader.hpp"

#include <algorithm>

#include "checkpoint/format/strict_json.hpp"
#include "common/base/text.hpp"
#include "trainer/data/row_source.hpp"
#include "trainer/data/text/text_file.hpp"

namespace trainward::trainer {
namespace {

// Of a file of a folder that is not read.
Unread other_file(const std::filesystem::path& path) {
  Unread unread{path, "is neither .jsonl nor .ndjson nor .json", "", true};
  const auto file = TextFile::open(path);
  std::optional<NoText> no;
  if (file) no = why_no_rows(file->head(), path);
  if (no) unread = {path, no->what, no->hint, true};
  if (!file && !file.error().hint.empty())
    unread = {path, file.error().what, file.error().hint, true};
  return unread;
}

}  // namespace

bool holds_rows(const std::filesystem::path& path) {
  return is_lines_by_name(path) || unpacked_name(path).extension() == ".json";
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
  auto value = checkpoint::parse_strict_json(text, "");
  if (!value) return tell_bad({file.path, number, value.error().what, text});
  auto ok = ports_.row(*value);
  if (!ok && ok.error().kind == ErrorKind::corrupt) {
    return tell_bad({file.path, number, ok.error().what, text});
  }
  if (ok) ++rows_;
  return ok;
}

Status RowReader::read_rows(const FoundFile& file) {
  const std::int64_t before = rows_;
  // What ends a file early ends the reading only where a part of it would be trained on unnoticed.
  const auto leave = [&](Error& error, std::string_view after) -> Status {
    if (error.kind == ErrorKind::usage) return tl::unexpected(std::move(error));
    unread_.push_back({file.path, fmt::format("{}{}", error.what, after), error.hint,
                       error.kind == ErrorKind::corrupt});
    return {};
  };
  auto source = open_rows(file.path);
  if (!source) return leave(source.error(), "");
  std::uint64_t told = 0;
  for (;;) {
    auto row = (*source)->next();
    if (!row) return leave(row.error(), fmt::format(", after {}", count(rows_ - before, "row")));
    if (!*row) return {};
    const auto& [text, number, too_long] = **row;
    auto ok =
        too_long
            ? tell_bad({file.path, number,
                        fmt::format("is longer than the {} allowed", human_bytes(max_line_bytes)),
                        text})
            : offer(file, text, number);
    const std::uint64_t done = (*source)->bytes_done();
    if (ok) ok = advance(done - std::exchange(told, done));
    if (!ok) return ok;
  }
}

Status RowReader::read_file_of_rows(const FoundFile& file) {
  const std::int64_t good = rows_;
  const std::int64_t bad = bad_rows_;
  const std::size_t unread = unread_.size();
  first_of_file_.clear();
  if (auto ok = read_rows(file); !ok) return ok;
  if (rows_ == good && bad_rows_ > bad && unread_.size() == unread) {
    unread_.push_back({file.path,
                       fmt::format("has no good row; {} bad, the first {}",
                                   count(bad_rows_ - bad, "row"), first_of_file_),
                       "", true});
  }
  return {};
}

Status RowReader::read_path(const std::string& path, const FileList& found) {
  const std::size_t before = unread_.size();
  unread_.insert(unread_.end(), found.unread.begin(), found.unread.end());
  bool any = false;
  for (const FoundFile& file : found.files) {
    if (file.path != path && !holds_rows(file.path)) {
      unread_.push_back(other_file(file.path));
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

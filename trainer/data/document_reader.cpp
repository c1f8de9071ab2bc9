#include "trainer/data/document_reader.hpp"

#include <utility>

#include "checkpoint/format/strict_json.hpp"
#include "common/base/json/json.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/data/row_source.hpp"
#include "trainer/data/text/text_file.hpp"

namespace trainward::trainer {

Status DocumentReader::advance(std::uint64_t bytes) {
  bytes_ += bytes;
  return ports_.progress ? ports_.progress(bytes_) : Status();
}

Status DocumentReader::offer(std::string_view text) {
  if (!ports_.progress) return ports_.document(text, {});
  return ports_.document(text,
                         [this](std::uint64_t within) { return ports_.progress(bytes_ + within); });
}

Status DocumentReader::tell_bad(const BadLine& line) {
  if (bad_lines_++ == 0) {
    first_bad_line_ = fmt::format("{}:{}: {}", line.file.string(), line.number, line.reason);
  }
  return ports_.bad_line ? ports_.bad_line(line) : Status();
}

Status DocumentReader::leave_out(const DataFile& file, Error& error, std::string_view after) {
  if (error.kind == ErrorKind::usage) return tl::unexpected(std::move(error));
  unread_.push_back({file.file.path, fmt::format("{}{}", error.what, after), error.hint,
                     error.kind == ErrorKind::corrupt});
  return {};
}

Result<std::optional<std::string>> DocumentReader::whole_text(const DataFile& file) {
  const auto too_much = [&] {
    return fail(ErrorKind::usage,
                fmt::format("there is more than {} of text", human_bytes(ports_.max_file_bytes)),
                file.file.path.string(), "name fewer files or folders under data");
  };
  Result<std::string> text;
  if (file.kind == DataFile::Kind::bytes) {
    text = read_file(file.file.path, ports_.max_file_bytes);
    if (!text && text.error().kind == ErrorKind::corrupt) return too_much();
  } else if (auto opened = TextFile::open(file.file.path)) {
    text = opened->read_to_end(ports_.max_file_bytes, file.file.bytes);
    if (!text && text.error().kind == ErrorKind::corrupt) return too_much();
  } else {
    text = propagate(opened);
  }
  if (text) return std::optional(std::move(*text));
  if (auto ok = leave_out(file, text.error(), ""); !ok) return propagate(ok);
  return std::optional<std::string>();
}

Result<std::int64_t> DocumentReader::read_text(const DataFile& file) {
  auto whole = whole_text(file);
  if (!whole) return propagate(whole);
  const std::optional<std::string>& text = *whole;
  if (!text) return 0;
  std::int64_t found = 0;
  if (!text->empty()) {
    if (auto ok = offer(*text); ok) {
      found = 1;
    } else if (ok.error().kind != ErrorKind::corrupt) {
      return propagate(ok);
    } else {
      unread_.push_back({file.file.path, ok.error().what, ""});
    }
  }
  if (auto ok = advance(file.file.bytes); !ok) return propagate(ok);
  return found;
}

// Whether the line was a document.
Result<bool> DocumentReader::offer_line(const DataFile& file, std::string_view text,
                                        std::int64_t number, bool too_long) {
  const auto bad = [&](std::string reason) -> Result<bool> {
    if (auto ok = tell_bad({file.file.path, number, std::move(reason), text}); !ok) {
      return propagate(ok);
    }
    return false;
  };
  if (too_long) {
    return bad(fmt::format("is longer than the {} allowed", human_bytes(max_line_bytes)));
  }
  auto document = document_of_line(text);
  if (!document) return bad(document.error().what);
  if (!*document || (*document)->empty()) return false;
  auto ok = offer(**document);
  if (!ok && ok.error().kind == ErrorKind::corrupt) return bad(ok.error().what);
  if (!ok) return propagate(ok);
  return true;
}

Result<std::int64_t> DocumentReader::read_rows(const DataFile& file) {
  std::int64_t found = 0;
  const auto left_out = [&](Error& error, std::string_view after) -> Result<std::int64_t> {
    if (auto ok = leave_out(file, error, after); !ok) return propagate(ok);
    return found;
  };
  auto source = open_rows(file.file.path);
  if (!source) return left_out(source.error(), "");
  std::uint64_t told = 0;
  const std::int64_t bad_before = bad_lines_;
  for (;;) {
    auto row = (*source)->next();
    if (!row) return left_out(row.error(), fmt::format(", after {}", count(found, "document")));
    if (!*row) break;
    auto good = offer_line(file, (*row)->text, (*row)->number, (*row)->too_long);
    if (!good) return propagate(good);
    found += *good ? 1 : 0;
    const std::uint64_t done = (*source)->bytes_done();
    if (auto ok = advance(done - std::exchange(told, done)); !ok) return propagate(ok);
  }
  if (const auto bad = bad_lines_ - bad_before; found == 0 && bad > 0) {
    unread_.push_back(
        {file.file.path, fmt::format("has no good line; {} bad", count(bad, "line")), "", true});
  }
  return found;
}

Status DocumentReader::read(const DataFiles& data) {
  unread_.insert(unread_.end(), data.unread.begin(), data.unread.end());
  const std::size_t before = unread_.size() - data.unread.size();
  bool any = false;
  for (const DataFile& file : data.files) {
    if (taken_.contains(file.file.identity)) {
      any = true;
      continue;
    }
    auto found = file.kind == DataFile::Kind::jsonl ? read_rows(file) : read_text(file);
    if (!found) return propagate(found);
    if (*found == 0) continue;
    taken_.insert(file.file.identity);
    documents_ += *found;
    any = true;
  }
  if (any) return {};
  return nothing_to_read(data.path,
                         {unread_.begin() + static_cast<std::ptrdiff_t>(before), unread_.end()});
}

std::uint64_t total_bytes(const std::vector<DataFiles>& data) {
  std::uint64_t total = 0;
  for (const DataFiles& part : data) {
    for (const DataFile& file : part.files) total += file.file.bytes;
  }
  return total;
}

Result<std::optional<std::string>> document_of_line(std::string_view line) {
  if (trim(line).empty()) return std::optional<std::string>();
  auto value = checkpoint::parse_strict_json(line, "");
  if (!value) return propagate(value);
  if (!value->is_object()) return fail(ErrorKind::corrupt, "is not a JSON object");
  const json::object& object = value->get_object();
  if (object.contains("text")) {
    auto text = get_string(object, "text");
    if (!text) return fail(ErrorKind::corrupt, text.error().what);
    return std::optional(std::move(*text));
  }
  if (!object.contains("prompt") && !object.contains("response")) {
    return fail(ErrorKind::corrupt, "has neither 'text' nor 'prompt' and 'response'");
  }
  auto prompt = get_string(object, "prompt");
  if (!prompt) return fail(ErrorKind::corrupt, prompt.error().what);
  auto response = get_string(object, "response");
  if (!response) return fail(ErrorKind::corrupt, response.error().what);
  return std::optional(*prompt + "\n" + *response);
}

}  // namespace trainward::trainer

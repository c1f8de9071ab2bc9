#include "trainer/data/document_reader.hpp"

#include <fcntl.h>

#include "common/base/json.hpp"
#include "common/base/text.hpp"
#include "common/os/file.hpp"
#include "trainer/data/byte_order_mark.hpp"
#include "trainer/data/line_reader.hpp"

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

Result<std::int64_t> DocumentReader::read_text(const DataFile& file) {
  auto text = read_file(file.file.path, ports_.max_file_bytes);
  if (!text) {
    if (text.error().kind == ErrorKind::corrupt) {
      return fail(ErrorKind::usage,
                  fmt::format("there is more than {} of text", human_bytes(ports_.max_file_bytes)),
                  file.file.path.string(), "name fewer files or folders under data");
    }
    unread_.push_back({file.file.path, text.error().what});
    return 0;
  }
  std::int64_t found = 0;
  if (!text->empty()) {
    if (auto ok = offer(*text); ok) {
      found = 1;
    } else if (ok.error().kind != ErrorKind::corrupt) {
      return propagate(ok);
    } else {
      unread_.push_back({file.file.path, ok.error().what});
    }
  }
  if (auto ok = advance(text->size()); !ok) return propagate(ok);
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
  if (number == 1) text = without_byte_order_mark(text);
  auto document = document_of_line(text);
  if (!document) return bad(document.error().what);
  if (!*document || (*document)->empty()) return false;
  auto ok = offer(**document);
  if (!ok && ok.error().kind == ErrorKind::corrupt) return bad(ok.error().what);
  if (!ok) return propagate(ok);
  return true;
}

Result<std::int64_t> DocumentReader::read_lines(const DataFile& file) {
  auto fd = open_file(file.file.path, O_RDONLY);
  if (!fd) {
    unread_.push_back({file.file.path, fd.error().what});
    return 0;
  }
  LineReader lines(std::move(*fd), file.file.path, max_line_bytes);
  std::int64_t found = 0;
  std::uint64_t told = 0;
  const std::int64_t bad_before = bad_lines_;
  for (;;) {
    auto line = lines.next();
    if (!line) {
      unread_.push_back({file.file.path,
                         fmt::format("{}, after {}", line.error().what, count(found, "document"))});
      return found;
    }
    if (!*line) break;
    auto good = offer_line(file, (*line)->text, (*line)->number, (*line)->too_long);
    if (!good) return propagate(good);
    found += *good ? 1 : 0;
    if (auto ok = advance(lines.bytes_done() - told); !ok) return propagate(ok);
    told = lines.bytes_done();
  }
  if (const auto bad = bad_lines_ - bad_before; found == 0 && bad > 0) {
    unread_.push_back(
        {file.file.path, fmt::format("has no good line; {} bad", count(bad, "line")), true});
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
    auto found = file.kind == DataFile::Kind::jsonl ? read_lines(file) : read_text(file);
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
  auto value = parse_json(line, "");
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

#include "common/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/file.hpp"

namespace trainward {
namespace {

constexpr std::size_t batch_bytes = 1024 * 1024;
// Longer than the longest record a shim writes, so that a read always makes progress.
constexpr std::size_t max_line_bytes = 256 * 1024;

Result<JournalRecord> parse_record(std::string_view line, std::string_view where) {
  auto value = parse_json(line, where);
  if (!value) return propagate(value);
  json::object* object = value->if_object();
  if (object == nullptr) return fail(ErrorKind::corrupt, "is not a record", std::string(where));
  JournalRecord record;
  auto sequence = get_int(*object, "seq");
  auto wall = get_int(*object, "wall_ms");
  auto mono = get_int(*object, "mono_ms");
  auto type = get_string(*object, "type");
  if (!sequence || !wall || !mono || !type) {
    return fail(ErrorKind::corrupt, "is not a record", std::string(where));
  }
  record.sequence = *sequence;
  record.at = {*wall, *mono};
  record.type = std::move(*type);
  record.fields = std::move(*object);
  return record;
}

}  // namespace

Result<JournalWriter> JournalWriter::open(const std::filesystem::path& file) {
  auto fd = open_file(file, O_RDWR | O_CREAT | O_APPEND, 0640);
  if (!fd) return propagate(fd);
  std::int64_t offset = 0;
  std::int64_t sequence = 0;
  for (;;) {
    auto batch = read_journal(file, offset);
    if (!batch) return propagate(batch);
    if (!batch->records.empty()) sequence = batch->records.back().sequence;
    offset = batch->next_offset;
    if (!batch->more) break;
  }
  if (::ftruncate(fd->get(), offset) != 0) {
    return fail_errno(errno, "cut off a torn record", file.string());
  }
  return JournalWriter(std::move(*fd), file, offset, sequence);
}

Status JournalWriter::append(std::string_view type, json::object fields, Time at, bool sync) {
  fields["seq"] = sequence_ + 1;
  fields["wall_ms"] = at.wall_ms;
  fields["mono_ms"] = at.mono_ms;
  fields["type"] = std::string(type);
  const std::string line = json::serialize(fields) + "\n";
  if (auto ok = write_all(fd_.get(), line, file_); !ok) {
    // A short write would tear the next record as well.
    (void)::ftruncate(fd_.get(), size_);
    return ok;
  }
  ++sequence_;
  size_ += static_cast<std::int64_t>(line.size());
  if (sync && ::fdatasync(fd_.get()) != 0) {
    return fail_errno(errno, "fdatasync the journal", file_.string());
  }
  return {};
}

Result<JournalBatch> read_journal(const std::filesystem::path& file, std::int64_t offset) {
  JournalBatch batch;
  batch.next_offset = offset;
  auto fd = open_file(file, O_RDONLY);
  if (!fd) {
    if (!std::filesystem::exists(file)) return batch;
    return propagate(fd);
  }
  std::string bytes(batch_bytes + max_line_bytes, '\0');
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::pread(fd->get(), bytes.data() + filled, bytes.size() - filled,
                                offset + static_cast<std::int64_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "read the journal", file.string());
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  std::string_view rest(bytes.data(), filled);
  std::size_t used = 0;
  while (used < batch_bytes) {
    const auto end = rest.find('\n', used);
    if (end == std::string_view::npos) break;
    const std::string where =
        fmt::format("{}:byte {}", file.string(), offset + static_cast<std::int64_t>(used));
    if (auto record = parse_record(rest.substr(used, end - used), where)) {
      record->offset = offset + static_cast<std::int64_t>(used);
      batch.records.push_back(std::move(*record));
    } else {
      ++batch.bad_lines;
    }
    used = end + 1;
  }
  if (used == 0 && filled == bytes.size()) {
    return fail(ErrorKind::corrupt, fmt::format("has a line longer than {} bytes", bytes.size()),
                file.string());
  }
  batch.next_offset = offset + static_cast<std::int64_t>(used);
  batch.more = rest.find('\n', used) != std::string_view::npos || filled == bytes.size();
  return batch;
}

}  // namespace trainward

#include "common/wire/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/os/file.hpp"

namespace trainward {
namespace {

// Longer than the longest record a shim writes, so that a read always makes progress.
constexpr std::size_t max_line_bytes = 256 * 1024;
constexpr std::int64_t reserve_bytes = 32 * 1024;

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
  record.at = {WallTime{*wall}, MonoTime{*mono}};
  record.type = std::move(*type);
  record.fields = std::move(*object);
  return record;
}

// A newer shim may say things this reader would misunderstand, so it must not go on.
Status check_version(const JournalRecord& record, const std::filesystem::path& file) {
  const std::int64_t version = int_or(record.fields, "version", 1);
  if (record.type != "started" || version <= journal_version) return {};
  return fail(ErrorKind::usage,
              fmt::format("is a journal of version {}; this program reads up to {}", version,
                          journal_version),
              file.string(), "a newer release of Trainward keeps this attempt: install it again");
}

}  // namespace

Result<JournalWriter> JournalWriter::open(const std::filesystem::path& file) {
  auto fd = open_regular(file, O_RDWR | O_CREAT | O_APPEND, 0640);
  if (!fd) return propagate(fd);
  std::int64_t offset = 0;
  std::int64_t sequence = 0;
  while (::lseek(fd->get(), 0, SEEK_END) > 0) {
    auto batch = read_journal(file, offset);
    if (!batch) return propagate(batch);
    if (!batch->records.empty()) sequence = batch->records.back().sequence;
    offset = batch->next_offset;
    if (!batch->more) break;
  }
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) {
    return fail_errno(errno, "look at the journal", file.string());
  }
  if (info.st_size != offset && ::ftruncate(fd->get(), offset) != 0) {
    return fail_errno(errno, "cut off a torn record", file.string());
  }
  JournalWriter writer(std::move(*fd), file, offset, sequence);
  writer.reserve();
  return writer;
}

void JournalWriter::reserve() {
  if (reserved_to_ - size_ > reserve_bytes / 2) return;
  // Without help of the file system, or on a full disk, it is merely not there.
  if (::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, size_, reserve_bytes) == 0) {
    reserved_to_ = size_ + reserve_bytes;
  }
}

void JournalWriter::close() {
  if (reserved_to_ > size_) (void)!::ftruncate(fd_.get(), size_);
  reserved_to_ = 0;
}

Status JournalWriter::append(std::string_view type, const JsonText& fields, Time at, bool sync) {
  JsonText head;
  head.add("seq", sequence_ + 1).add("wall_ms", at.wall.ms).add("mono_ms", at.mono.ms);
  head.add("type", type);
  std::string line = "{" + head.members();
  if (!fields.members().empty()) line += "," + fields.members();
  line += "}\n";
  Status written = write_all(fd_.get(), line, file_);
  if (written && sync) {
    size_ += static_cast<std::int64_t>(line.size());
    close();  // in the same commit of the file system's: a second one costs milliseconds
    size_ -= static_cast<std::int64_t>(line.size());
    if (::fdatasync(fd_.get()) != 0) {
      written = fail_errno(errno, "fdatasync the journal", file_.string());
    }
  }
  if (!written) {
    // A short write would tear the next record as well; and what is tried again must not stand
    // here twice. Nothing is cut where nothing was written: that would give the space back that
    // was set aside.
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0 || info.st_size != size_) {
      (void)!::ftruncate(fd_.get(), size_);
      reserved_to_ = 0;
    }
    return written;
  }
  ++sequence_;
  size_ += static_cast<std::int64_t>(line.size());
  if (!sync) reserve();
  return {};
}

Result<JournalBatch> read_journal(const std::filesystem::path& file, std::int64_t offset,
                                  std::size_t most_bytes) {
  JournalBatch batch;
  batch.next_offset = offset;
  auto fd = open_regular(file, O_RDONLY);
  if (!fd) {
    if (!std::filesystem::exists(file)) return batch;
    return propagate(fd);
  }
  const auto most_read = static_cast<std::int64_t>(most_bytes + max_line_bytes);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "read the journal", file.string());
  const std::int64_t left = std::clamp<std::int64_t>(info.st_size - offset, 0, most_read);
  std::string bytes(static_cast<std::size_t>(left), '\0');
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
  while (used < most_bytes) {
    const auto end = rest.find('\n', used);
    if (end == std::string_view::npos) break;
    const std::string where =
        fmt::format("{}:byte {}", file.string(), offset + static_cast<std::int64_t>(used));
    if (auto record = parse_record(rest.substr(used, end - used), where)) {
      record->offset = offset + static_cast<std::int64_t>(used);
      if (auto known = check_version(*record, file); !known) return propagate(known);
      batch.records.push_back(std::move(*record));
    } else {
      ++batch.bad_lines;
    }
    used = end + 1;
  }
  const bool full = filled == static_cast<std::size_t>(most_read);
  if (used == 0 && full) {
    return fail(ErrorKind::corrupt, fmt::format("has a line longer than {} bytes", most_read),
                file.string());
  }
  batch.next_offset = offset + static_cast<std::int64_t>(used);
  batch.more = rest.find('\n', used) != std::string_view::npos || full;
  return batch;
}

}  // namespace trainward

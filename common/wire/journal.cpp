#include "common/wire/journal.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <span>

#include "common/os/file.hpp"
#include "common/wire/journal_line.hpp"

namespace trainward {
namespace {

// Longer than the longest record a shim writes, so that a read always makes progress.
constexpr std::size_t max_line_bytes = 256 * 1024;
constexpr std::int64_t window_bytes = max_line_bytes;
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

// A newer shim may say things this reader would misunderstand, so it must stop.
Status check_version(const JournalRecord& record, const std::filesystem::path& file) {
  const std::int64_t version = int_or(record.fields, "version", 1);
  if (record.type != "started" || version <= journal_version) return {};
  return fail(ErrorKind::usage,
              fmt::format("is a journal of version {}; this program reads up to {}", version,
                          journal_version),
              file.string(), "a newer release of Trainward keeps this attempt: install it again");
}

// A file of a journal: where its first byte lies in the stream.
struct Part {
  int fd = -1;
  const std::filesystem::path& file;
  std::int64_t base = 0;
};

struct OpenPart {
  Fd fd;
  std::uint64_t inode = 0;
  std::int64_t size = 0;
  std::optional<std::int64_t> base;  // nothing: its first record does not say
};

Result<std::string> read_text(int fd, std::int64_t offset, std::int64_t length,
                              const std::filesystem::path& file) {
  std::string text(static_cast<std::size_t>(length), '\0');
  auto got = read_at(fd, std::as_writable_bytes(std::span(text)),
                     static_cast<std::uint64_t>(offset), file);
  if (!got) return propagate(got);
  text.resize(*got);
  return text;
}

Result<OpenPart> open_part(const std::filesystem::path& file) {
  auto fd = open_regular(file, O_RDONLY);
  if (!fd) return propagate(fd);
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0) return fail_errno(errno, "read the journal", file.string());
  auto head =
      read_text(fd->get(), 0,
                std::min(std::int64_t{info.st_size}, std::int64_t{journal_line::head_bytes}), file);
  if (!head) return propagate(head);
  const auto base = journal_line::number(*head, journal_line::base);
  return OpenPart{std::move(*fd), info.st_ino, info.st_size, base};
}

// Records from `from` of this file on. Offsets in the batch are those of the stream.
Result<JournalBatch> read_records(const Part& part, std::int64_t from, std::size_t most_bytes) {
  JournalBatch batch;
  const auto most_read = static_cast<std::int64_t>(most_bytes + max_line_bytes);
  struct stat info {};
  if (::fstat(part.fd, &info) != 0) {
    return fail_errno(errno, "read the journal", part.file.string());
  }
  const std::int64_t left = std::clamp<std::int64_t>(info.st_size - from, 0, most_read);
  auto rest = read_text(part.fd, from, left, part.file);
  if (!rest) return propagate(rest);
  std::size_t used = 0;
  while (used < most_bytes) {
    const auto end = rest->find('\n', used);
    if (end == std::string::npos) break;
    const std::string_view line = std::string_view(*rest).substr(used, end - used);
    const std::int64_t place = from + static_cast<std::int64_t>(used);
    if (auto record = parse_record(line, fmt::format("{}:byte {}", part.file.string(), place))) {
      record->offset = part.base + place;
      if (auto known = check_version(*record, part.file); !known) return propagate(known);
      batch.records.push_back(std::move(*record));
    } else {
      ++batch.bad_lines;
    }
    used = end + 1;
  }
  const bool full = static_cast<std::int64_t>(rest->size()) == most_read;
  if (used == 0 && full) {
    return fail(ErrorKind::corrupt, fmt::format("has a line longer than {} bytes", most_read),
                part.file.string());
  }
  batch.next_offset = part.base + from + static_cast<std::int64_t>(used);
  batch.more = rest->find('\n', used) != std::string::npos || full;
  return batch;
}

// Where in a thinned file the first record from `offset` of the stream on begins: its lines are in
// the order of their offsets.
Result<std::int64_t> find_in_thinned(const OpenPart& thinned, const std::filesystem::path& file,
                                     std::int64_t offset) {
  std::int64_t low = 0;  // a line begins here, and all before it are before `offset`
  std::int64_t high = thinned.size;
  while (high - low > 64 * 1024) {
    const std::int64_t middle = low + (high - low) / 2;
    auto text = read_text(thinned.fd.get(), middle, std::min(high - middle, window_bytes), file);
    if (!text) return propagate(text);
    const auto line = text->find('\n');
    if (line == std::string::npos) break;
    const auto found =
        journal_line::number(std::string_view(*text).substr(line + 1), journal_line::offset);
    if (found && *found < offset) {
      low = middle + static_cast<std::int64_t>(line) + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// Of the thinned file, from `offset` of the stream up to `end` of it.
Result<JournalBatch> read_thinned(const std::filesystem::path& file, std::int64_t offset,
                                  std::int64_t end, std::size_t most_bytes) {
  JournalBatch none;
  none.next_offset = end;
  none.more = true;
  auto thinned = open_part(file);
  if (!thinned) return none;
  auto from = find_in_thinned(*thinned, file, offset);
  while (from) {
    auto batch = read_records({thinned->fd.get(), file}, *from, most_bytes);
    if (!batch && batch.error().kind == ErrorKind::corrupt) return none;
    if (!batch) return batch;
    for (JournalRecord& record : batch->records) record.offset = int_or(record.fields, "off", -1);
    std::erase_if(batch->records, [&](const JournalRecord& record) {
      return record.offset < offset || record.offset >= end;
    });
    const bool more = batch->more;
    const std::int64_t next = batch->next_offset;
    batch->more = true;
    if (!more) {
      batch->next_offset = end;
      return batch;
    }
    if (!batch->records.empty()) {
      batch->next_offset = batch->records.back().offset + 1;
      return batch;
    }
    from = next;
  }
  return propagate(from);
}

// What lies before the file that is written now, which begins at `end`.
Result<JournalBatch> read_before(const std::filesystem::path& file, std::int64_t offset,
                                 std::int64_t end, std::size_t most_bytes) {
  const std::filesystem::path older_file = file.string() + journal_files::older;
  auto older = open_part(older_file);
  // The first file of a journal says no base; it is the first when nothing was thinned out.
  const std::filesystem::path thinned_file = file.string() + journal_files::thinned;
  const std::int64_t begin = older ? older->base.value_or(0) : end;
  if (offset < begin) return read_thinned(thinned_file, offset, begin, most_bytes);
  auto batch = read_records({older->fd.get(), older_file, begin}, offset - begin, most_bytes);
  if (!batch && batch.error().kind == ErrorKind::corrupt) {
    batch.emplace();
  } else if (!batch) {
    return batch;
  }
  std::erase_if(batch->records, [&](const JournalRecord& record) { return record.offset >= end; });
  if (!batch->more) batch->next_offset = end;
  batch->more = true;
  return batch;
}

}  // namespace

Result<JournalWriter> JournalWriter::open(std::shared_ptr<const Folder> folder, std::string name) {
  auto fd = folder->open_file(name, O_RDWR | O_CREAT | O_APPEND, 0640);
  if (!fd) return propagate(fd);
  const std::filesystem::path file = folder->path() / name;
  std::int64_t offset = 0;
  std::int64_t sequence = 0;
  while (::lseek(fd->get(), 0, SEEK_END) > 0) {
    auto batch = read_records({fd->get(), file}, offset, 1024 * 1024);
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
  JournalWriter writer(std::move(folder), std::move(name), std::move(*fd), offset, sequence);
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

std::string JournalWriter::line_of(std::string_view type, const std::string& members,
                                   Time at) const {
  JsonText head;
  head.add("seq", sequence_ + 1).add("wall_ms", at.wall.ms).add("mono_ms", at.mono.ms);
  head.add("type", type);
  std::string line = "{" + head.members();
  if (!members.empty()) line += "," + members;
  return line += "}\n";
}

Status JournalWriter::append(std::string_view type, const JsonText& fields, Time at, bool sync) {
  const std::string line = line_of(type, fields.members(), at);
  const std::filesystem::path file = folder_->path() / name_;
  Status written = write_all(fd_.get(), line, file);
  if (written && sync) {
    size_ += static_cast<std::int64_t>(line.size());
    close();  // in the same commit of the file system's: a second one costs milliseconds
    size_ -= static_cast<std::int64_t>(line.size());
    if (::fdatasync(fd_.get()) != 0) {
      written = fail_errno(errno, "fdatasync the journal", file.string());
    }
  }
  if (!written) {
    // A short write would tear the next record as well; and what is tried again must not stand
    // here twice. Nothing is cut where nothing was written: that would give the space back that
    // was set aside.
    struct stat info {};
    if (::fstat(fd_.get(), &info) != 0 || info.st_size > size_) {
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

JournalWriter::Place JournalWriter::look() const {
  struct stat mine {};
  if (::fstat(fd_.get(), &mine) != 0) return Place::taken;
  const auto there = folder_->look(name_);
  if (!there || !*there || (*there)->st_ino != mine.st_ino || (*there)->st_dev != mine.st_dev) {
    return Place::taken;
  }
  return mine.st_size < size_ ? Place::cut : Place::ours;
}

Status JournalWriter::begin_anew(const JsonText& started, Time at) {
  const std::string fresh_name = name_ + journal_files::fresh;
  const std::filesystem::path where = folder_->path() / fresh_name;
  if (auto ok = folder_->remove_file(fresh_name); !ok) return ok;
  auto fresh = folder_->open_file(fresh_name, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0640);
  if (!fresh) return propagate(fresh);
  const std::string farewell = line_of("continued", "", at);
  const std::int64_t base = end() + static_cast<std::int64_t>(farewell.size());
  JsonText fields;
  fields.add("base", base).add("again", true);
  ++sequence_;
  const std::string line = line_of("started", fields.members() + "," + started.members(), at);
  auto ok = write_all(fresh->get(), line, where);
  if (ok) ok = folder_->rename(fresh_name, name_);
  if (!ok) {
    --sequence_;
    (void)folder_->remove_file(fresh_name);
    return ok;
  }
  // Wakes those who watch the old file once more. One that was cut ends in a torn line.
  struct stat old {};
  if (::fstat(fd_.get(), &old) == 0 && old.st_size < size_) {
    (void)!::ftruncate(fd_.get(), old.st_size);
  } else {
    close();
    (void)!::write(fd_.get(), farewell.data(), farewell.size());
  }
  fd_ = std::move(*fresh);
  base_ = base;
  size_ = static_cast<std::int64_t>(line.size());
  ++sequence_;
  reserve();
  return {};
}

Result<JournalBatch> read_journal(const std::filesystem::path& file, std::int64_t offset,
                                  std::size_t most_bytes) {
  JournalBatch batch;
  batch.next_offset = offset;
  auto current = open_part(file);
  if (!current) {
    if (!std::filesystem::exists(file)) return batch;
    return propagate(current);
  }
  // From before the file that is written now: the older ones, if they are there.
  const std::int64_t end = current->base.value_or(0);
  if (offset < end) {
    auto before = read_before(file, offset, end, most_bytes);
    if (!before) return before;
    if (before->next_offset < end || !before->records.empty()) {
      before->inode = current->inode;
      before->end = end + current->size;
      return before;
    }
  }
  const std::int64_t from = std::max(offset, end) - end;
  auto read = read_records({current->fd.get(), file, end}, from, most_bytes);
  if (read) {
    read->inode = current->inode;
    read->end = end + current->size;
  }
  return read;
}

}  // namespace trainward

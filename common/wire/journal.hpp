// The journal of one attempt: append-only NDJSON, written by the shim, followed by the daemon.
//
// Version 2 (the "started" record says so; docs/architecture.md has the fields of each record):
//   {"seq":1,"wall_ms":…,"mono_ms":…,"type":"started","version":2,"nonce":…,"pid":…,…}
//   {"seq":2,…,"type":"message","fields":{"PHASE":"load"}}
//   {"seq":…,…,"type":"thinned","messages":…}         left out so far, because they came too fast
//   {"seq":…,…,"type":"rotated","stream":"stdout","base":…}   where the current log file begins
//   {"seq":…,…,"type":"dropped","messages":…,"log_bytes":…}   what a full disk has cost since the
//                                                             last such record
//   {"seq":…,…,"type":"exited","code":1,…}            or "signal":9
//   {"seq":…,…,"type":"exec_failed","what":"…","transient":false}   it could not be started
//   {"seq":…,…,"type":"unkillable","processes":[…]}   SIGKILL was sent, and they live on
//
// One stream of bytes in up to three files, so that it stays bounded:
//   journal.ndjson           what is written now
//   journal.ndjson.1         what was written before it, whole
//   journal.ndjson.thinned   all before that, thinned out: {"off":OFFSET,"seq":…,…
// A record's offset in the stream never changes. A file that is not the first begins with a
// "started" record of version 3, {…,"type":"started","base":OFFSET,"again":true,…}: where in the
// stream it begins. So does a file that replaces one that was removed, emptied or truncated: after
// that record follows where the worker is, in records with "again" and the offset "at"
// which they stood before. Journals of earlier releases have the first file only.
//
// One writer. A torn last line (the writer or the machine died) is ignored by readers and cut off
// by the next writer. The offset behind the last record read is the reader's place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json/json.hpp"
#include "common/base/json/json_text.hpp"
#include "common/base/time.hpp"
#include "common/os/fd.hpp"
#include "common/os/folder.hpp"

namespace trainward {

// `why` of "dropped", when the disk was only slow.
inline constexpr std::string_view dropped_by_a_stall = "the disk stalled";

// Version 1 had no cgroup and no containment in "started", and no "rotated" and "unkillable"; 2 is
// what a journal of one file has.
inline constexpr std::int64_t journal_version = 3;
inline constexpr std::int64_t journal_version_of_one_file = 2;

namespace journal_files {
inline constexpr const char* older = ".1";
inline constexpr const char* thinned = ".thinned";
inline constexpr const char* fresh = ".new";  // until it has the name of the one it replaces
}  // namespace journal_files

class JournalWriter {
 public:
  // `name` in `folder`. Sets a few KiB of disk space aside behind the end where the file system
  // can, so that a disk that others fill still takes the last records.
  static Result<JournalWriter> open(std::shared_ptr<const Folder> folder, std::string name);

  // Appends one record with one write(2); `sync` also waits for the disk. The fields get "seq",
  // "wall_ms", "mono_ms" and "type". After a failed write the torn line is cut off again. Records
  // to be synced are those that end something: they also give back what was set aside.
  Status append(std::string_view type, const JsonText& fields, Time at, bool sync);

  // What has become of the file at its place.
  enum class Place { ours, cut, taken };  // cut: ours, but shorter than what was written
  [[nodiscard]] Place look() const;
  // Goes on in a new file, which takes the name; what has it now goes, unless it is a folder.
  // `started`: the fields of its first record. Those who watch the old file are woken once more.
  Status begin_anew(const JsonText& started, Time at);

  // The folder is another one, which has nothing of it yet: begin_anew() is next.
  void move_to(std::shared_ptr<const Folder> folder) { folder_ = std::move(folder); }

  [[nodiscard]] std::int64_t size() const { return size_; }         // of this file
  [[nodiscard]] std::int64_t end() const { return base_ + size_; }  // of the stream
  [[nodiscard]] const Folder& folder() const { return *folder_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  // Gives back what was set aside.
  void close();

 private:
  JournalWriter(std::shared_ptr<const Folder> folder, std::string name, Fd fd, std::int64_t size,
                std::int64_t sequence)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        fd_(std::move(fd)),
        size_(size),
        sequence_(sequence) {}
  [[nodiscard]] std::string line_of(std::string_view type, const std::string& members,
                                    Time at) const;
  void reserve();
  std::shared_ptr<const Folder> folder_;
  std::string name_;
  Fd fd_;
  std::int64_t base_ = 0;
  std::int64_t size_;
  std::int64_t sequence_;
  std::int64_t reserved_to_ = 0;
};

struct JournalRecord {
  std::int64_t offset = 0;  // of its first byte, in the stream
  std::int64_t sequence = 0;
  Time at;
  std::string type;
  json::object fields;
};

struct JournalBatch {
  std::vector<JournalRecord> records;
  std::int64_t next_offset = 0;  // where the next read begins
  std::int64_t bad_lines = 0;    // whole lines that are not records; skipped
  bool more = false;             // the batch was cut at its size limit
  std::uint64_t inode = 0;       // of the current file; 0 if it is missing
  std::int64_t end = 0;          // of the stream, so far
};

// Reads whole records from `offset` of the stream on, about `most_bytes` of them. What is there no
// more is passed over. A missing file is an empty batch: the shim has not made it yet. Kind usage:
// a shim of a newer release writes this journal.
Result<JournalBatch> read_journal(const std::filesystem::path& file, std::int64_t offset,
                                  std::size_t most_bytes = 1024 * 1024);

}  // namespace trainward

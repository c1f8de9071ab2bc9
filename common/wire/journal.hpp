// The journal of one attempt: append-only NDJSON, written by the shim, followed by the daemon.
//
// Version 2 (the "started" record says so; docs/architecture.md has the fields of each record):
//   {"seq":1,"wall_ms":…,"mono_ms":…,"type":"started","version":2,"nonce":…,"pid":…,…}
//   {"seq":2,…,"type":"message","fields":{"PHASE":"load"}}
//   {"seq":…,…,"type":"rotated","stream":"stdout","base":…}   where the current log file begins
//   {"seq":…,…,"type":"dropped","messages":…,"log_bytes":…}   what a full disk has cost since the
//                                                             last such record
//   {"seq":…,…,"type":"exited","code":1,…}            or "signal":9
//   {"seq":…,…,"type":"exec_failed","what":"…","transient":false}   it could not be started
//   {"seq":…,…,"type":"unkillable","processes":[…]}   SIGKILL was sent, and they live on
//
// One writer. A torn last line (the writer or the machine died) is ignored by readers and cut off
// by the next writer. The byte offset behind the last record read is the reader's place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/base/json.hpp"
#include "common/base/json_text.hpp"
#include "common/base/time.hpp"
#include "common/os/fd.hpp"

namespace trainward {

// Version 1 had no cgroup and no containment in "started", and no "rotated" and "unkillable".
inline constexpr std::int64_t journal_version = 2;

class JournalWriter {
 public:
  // Sets a few KiB of disk space aside behind the end where the file system can, so that a disk
  // that others fill still takes the last records.
  static Result<JournalWriter> open(const std::filesystem::path& file);

  // Appends one record with one write(2); `sync` also waits for the disk. The fields get "seq",
  // "wall_ms", "mono_ms" and "type". After a failed write the torn line is cut off again. Records
  // to be synced are those that end something: they also give back what was set aside.
  Status append(std::string_view type, const JsonText& fields, Time at, bool sync);

  // Gives back what was set aside.
  void close();

 private:
  JournalWriter(Fd fd, std::filesystem::path file, std::int64_t size, std::int64_t sequence)
      : fd_(std::move(fd)), file_(std::move(file)), size_(size), sequence_(sequence) {}
  void reserve();
  Fd fd_;
  std::filesystem::path file_;
  std::int64_t size_;
  std::int64_t sequence_;
  std::int64_t reserved_to_ = 0;
};

struct JournalRecord {
  std::int64_t offset = 0;  // of its first byte
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
};

// Reads whole records from `offset` on, about `most_bytes` of them. A missing file is an empty
// batch: the shim has not made it yet. Kind usage: a shim of a newer release writes this journal.
Result<JournalBatch> read_journal(const std::filesystem::path& file, std::int64_t offset,
                                  std::size_t most_bytes = 1024 * 1024);

}  // namespace trainward

// The journal of one attempt: append-only NDJSON, written by the shim, followed by the daemon.
//
//   {"seq":1,"wall_ms":…,"mono_ms":…,"type":"started","pid":…,"start_ticks":…,"shim_pid":…,…}
//   {"seq":2,…,"type":"message","fields":{"PHASE":"load"}}
//   {"seq":3,…,"type":"exited","code":1}            or "signal":9
//   {"seq":…,…,"type":"exec_failed","what":"…"}     the command could not be started
//   {"seq":…,…,"type":"dropped","messages":…,"log_bytes":…}  what a full disk has cost
//
// One writer. A torn last line (the writer or the machine died) is ignored by readers and cut off
// by the next writer. The byte offset behind the last record read is the reader's place.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/fd.hpp"
#include "common/json.hpp"

namespace trainward {

class JournalWriter {
 public:
  static Result<JournalWriter> open(const std::filesystem::path& file);

  // Appends one record with one write(2); `sync` also waits for the disk. The fields get "seq",
  // "wall_ms", "mono_ms" and "type". After a failed write the torn line is cut off again.
  Status append(std::string_view type, json::object fields, Time at, bool sync);

 private:
  JournalWriter(Fd fd, std::filesystem::path file, std::int64_t size, std::int64_t sequence)
      : fd_(std::move(fd)), file_(std::move(file)), size_(size), sequence_(sequence) {}
  Fd fd_;
  std::filesystem::path file_;
  std::int64_t size_;
  std::int64_t sequence_;
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

// Reads whole records from `offset` on, at most about 1 MiB of them. A missing file is an empty
// batch: the shim has not made it yet.
Result<JournalBatch> read_journal(const std::filesystem::path& file, std::int64_t offset);

}  // namespace trainward

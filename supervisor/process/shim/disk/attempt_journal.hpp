// The journal of this attempt, which looks after itself.
//
//  - When its file is long enough it goes on in the next one, and what is older is thinned out: an
//    attempt of two weeks has no more on the disk than limits say.
//  - When somebody has taken, emptied or cut the file, it is recreated before the next record: who
//    the processes are, and where the worker is by now. So that costs what it alone knew, and a
//    healthy worker is not killed for a false silence. What nothing can be put in the place
//    of is told on standard error (shim.log), and the worker trains on.
// Used by one thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/wire/journal.hpp"
#include "supervisor/process/shim/disk/journal_queue.hpp"

namespace trainward::shim {

// Two files of `file_bytes`, and twice `thinned_bytes` while it is made: 56 MiB.
struct JournalLimits {
  std::int64_t file_bytes = 12 * 1024 * 1024;
  std::int64_t thinned_bytes = 16 * 1024 * 1024;
};

class AttemptJournal {
 public:
  explicit AttemptJournal(JournalWriter writer, JournalLimits limits = {})
      : writer_(std::move(writer)), limits_(limits), next_file_at_(limits.file_bytes) {}

  // "started" gets its version here.
  Status append(const QueuedRecord& record);
  // Goes on in another folder, which has nothing of it.
  void move_to(std::shared_ptr<const Folder> folder, Time at);
  void close() { writer_.close(); }

 private:
  struct Newest {  // of its kind
    std::string kind;
    JsonText fields;
    Time at;
    std::int64_t offset = 0;
  };
  Status start(const QueuedRecord& record);
  void look_after(Time at);
  Status go_on_in_the_next(Time at);
  Status make_anew(JournalWriter::Place place, Time at);
  Status keep_as_older() const;
  void remember(const QueuedRecord& record, std::int64_t offset);
  void complain(const Status& status, Time at);

  JournalWriter writer_;
  JournalLimits limits_;
  std::int64_t next_file_at_;
  JsonText identity_;  // of "started"; empty: nothing is known of the worker yet
  std::vector<Newest> newest_;
  std::int64_t silent_until_ms_ = 0;  // a complaint a minute is enough
};

}  // namespace trainward::shim

// Everything the shim writes to the disk, on a thread of its own.
//
// A write may sleep in the kernel for as long as the disk likes (a stalled disk, a frozen file
// system), and nothing can wake it. So the main thread never writes: it empties the worker's pipes
// and socket into memory, and this thread takes it from there. Journal records go before log bytes.
// A journal that cannot be written (a full disk) is tried again every second, until it can.
//
// All public functions are for the main thread and do not wait for the disk, except drain_logs()
// and stop().
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "common/base/error.hpp"
#include "supervisor/process/shim/disk/attempt_journal.hpp"
#include "supervisor/process/shim/disk/journal_queue.hpp"
#include "supervisor/process/shim/disk/log_file.hpp"
#include "supervisor/process/shim/disk/log_ring.hpp"

namespace trainward::shim {

enum class Stream : std::size_t { output = 0, error = 1 };
inline constexpr std::array<Stream, 2> both_streams{Stream::output, Stream::error};
constexpr std::string_view to_string(Stream stream) {
  return stream == Stream::output ? "stdout" : "stderr";
}

class DiskWriter {
 public:
  DiskWriter(AttemptJournal journal, LogFile output, LogFile error, LogRing output_ring,
             LogRing error_ring);
  ~DiskWriter();
  DiskWriter(const DiskWriter&) = delete;
  DiskWriter& operator=(const DiskWriter&) = delete;

  // The thread begins; before that nothing is written. After the worker was forked: a process
  // with two threads must not fork.
  Status start();

  void record(std::string_view type, JsonText fields, Time at, bool sync);
  // `stands_for`: itself and those of its kind that were left out for it.
  void message(const Message& message, Time at, std::int64_t stands_for = 1);
  // Whether another message should be taken from the worker. While a slow disk is behind, messages
  // wait in the socket and the worker with them, so that none is lost; but only for so long, and
  // not at all for a disk that refuses. Then the journal's queue lets old ones go.
  bool takes_messages(MonoTime at);

  // Where the next bytes of a stream may be put; empty when the disk is behind.
  std::span<char> space(Stream stream);
  void commit(Stream stream, std::size_t bytes);
  HalfLine take_back_half_line(Stream stream);
  void shrink();
  [[nodiscard]] std::size_t backlog(Stream stream);
  // Log bytes the disk has taken; while this stands still with a backlog, the disk stalls.
  [[nodiscard]] std::uint64_t progress(Stream stream);
  // Lines the main thread had to drop because the disk stalled.
  void count_dropped(const Dropped& dropped);

  // The attempt's folder is another one: journal and logs go on in there.
  void move_to(std::shared_ptr<const Folder> folder);

  // Waits until every log byte has been written or dropped.
  void drain_logs();
  // Waits until every record is on the disk, however long that takes, and ends the thread.
  void stop();

 private:
  struct StreamState {
    LogFile file;
    LogRing ring;
    std::int64_t rotations = 0;  // already told in the journal
  };
  StreamState& of(Stream stream) { return streams_[static_cast<std::size_t>(stream)]; }

  void work();
  void move(std::unique_lock<std::mutex>& lock);
  bool write_records(std::unique_lock<std::mutex>& lock);
  bool write_logs(std::unique_lock<std::mutex>& lock);
  void report_rotation(StreamState& state, Stream stream);
  void report_dropped(Time at, bool last);
  void push(QueuedRecord record);
  [[nodiscard]] bool logs_waiting() const;

  std::mutex mutex_;
  std::condition_variable wake_;  // for the thread: there is work
  std::condition_variable drained_;
  AttemptJournal journal_;
  std::array<StreamState, 2> streams_;
  JournalQueue queue_;
  std::shared_ptr<const Folder> next_folder_;  // null: they are where they belong
  bool journal_failed_ = false;
  MonoTime retry_at_;
  std::optional<MonoTime> behind_since_;  // none: it is not
  bool busy_ = false;                     // the thread is in a log write
  bool stop_ = false;
  Dropped stalled_;   // counted by the main thread
  Dropped reported_;  // log bytes already told in the journal
  std::uint64_t messages_dropped_ = 0;
  MonoTime report_at_;
  std::thread thread_;
};

}  // namespace trainward::shim

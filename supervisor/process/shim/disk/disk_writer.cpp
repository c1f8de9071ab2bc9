#include "supervisor/process/shim/disk/disk_writer.hpp"

#include <chrono>
#include <csignal>
#include <system_error>
#include <utility>

#include "common/os/clock.hpp"

namespace trainward::shim {
namespace {

constexpr std::int64_t retry_after_ms = 1'000;
// Half of what a worker waits before it leaves a message out (Notifier::send).
constexpr std::int64_t patience_ms = 500;
// What a full disk costs is told once in a while, not once a line.
constexpr std::int64_t report_after_ms = 10'000;

}  // namespace

DiskWriter::DiskWriter(AttemptJournal journal, LogFile output, LogFile error, LogRing output_ring,
                       LogRing error_ring)
    : journal_(std::move(journal)),
      streams_{StreamState{std::move(output), std::move(output_ring)},
               StreamState{std::move(error), std::move(error_ring)}} {}

DiskWriter::~DiskWriter() { stop(); }

Status DiskWriter::start() {
  try {
    thread_ = std::thread([this] { work(); });
  } catch (const std::system_error& error) {
    return fail_errno(error.code().value(), "start the thread that writes to the disk");
  }
  return {};
}

void DiskWriter::record(std::string_view type, JsonText fields, Time at, bool sync) {
  const std::lock_guard lock(mutex_);
  push({std::string(type), std::move(fields), at, sync, ""});
}

void DiskWriter::message(const Message& message, Time at, std::int64_t stands_for) {
  JsonText pairs;
  for (const auto& [key, value] : message) pairs.add(key, value);
  JsonText fields;
  fields.add_json("fields", pairs.object());
  if (stands_for > 1) fields.add("stands_for", stands_for);
  const std::lock_guard lock(mutex_);
  push({"message", std::move(fields), at, false, kind_of(message)});
}

bool DiskWriter::takes_messages(MonoTime at) {
  const std::lock_guard lock(mutex_);
  if (!queue_.half_full()) {
    behind_since_.reset();
    return true;
  }
  if (!behind_since_) behind_since_ = at;
  return journal_failed_ || at - *behind_since_ >= patience_ms;
}

void DiskWriter::push(QueuedRecord record) {
  queue_.push(std::move(record));
  messages_dropped_ += queue_.take_dropped();
  wake_.notify_one();
}

std::span<char> DiskWriter::space(Stream stream) {
  const std::lock_guard lock(mutex_);
  return of(stream).ring.space();
}

void DiskWriter::commit(Stream stream, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  of(stream).ring.commit(bytes);
  wake_.notify_one();
}

HalfLine DiskWriter::take_back_half_line(Stream stream) {
  const std::lock_guard lock(mutex_);
  return of(stream).ring.take_back_half_line();
}

void DiskWriter::shrink() {
  const std::lock_guard lock(mutex_);
  for (StreamState& state : streams_) state.ring.shrink();
}

std::size_t DiskWriter::backlog(Stream stream) {
  const std::lock_guard lock(mutex_);
  return of(stream).ring.used();
}

std::uint64_t DiskWriter::progress(Stream stream) {
  const std::lock_guard lock(mutex_);
  return of(stream).ring.consumed();
}

void DiskWriter::count_dropped(const Dropped& dropped) {
  const std::lock_guard lock(mutex_);
  stalled_.bytes += dropped.bytes;
  stalled_.lines += dropped.lines;
}

bool DiskWriter::logs_waiting() const {
  return streams_[0].ring.used() > 0 || streams_[1].ring.used() > 0;
}

void DiskWriter::drain_logs() {
  std::unique_lock lock(mutex_);
  drained_.wait(lock, [this] { return !busy_ && !logs_waiting(); });
  for (StreamState& state : streams_) state.file.finish();
  report_dropped(now(), true);
}

void DiskWriter::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    wake_.notify_one();
  }
  thread_.join();
  journal_.close();
}

void DiskWriter::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (next_folder_) move(lock);
    const bool wrote = write_records(lock);
    if (write_logs(lock) || wrote) continue;
    if (stop_ && queue_.empty()) return;
    if (queue_.empty()) {
      wake_.wait(lock);
    } else {
      wake_.wait_for(lock, std::chrono::milliseconds(retry_after_ms));
    }
  }
}

void DiskWriter::move_to(std::shared_ptr<const Folder> folder) {
  const std::lock_guard lock(mutex_);
  next_folder_ = std::move(folder);
  wake_.notify_one();
}

void DiskWriter::move(std::unique_lock<std::mutex>& lock) {
  const auto folder = std::exchange(next_folder_, nullptr);
  busy_ = true;
  lock.unlock();
  journal_.move_to(folder, now());
  for (StreamState& state : streams_) state.file.move_to(folder);
  lock.lock();
  busy_ = false;
  for (const Stream stream : both_streams) report_rotation(of(stream), stream);
  if (!logs_waiting()) drained_.notify_all();
}

// Writes what is queued; true when there may be more to do at once.
bool DiskWriter::write_records(std::unique_lock<std::mutex>& lock) {
  if (queue_.empty() || (journal_failed_ && now().mono < retry_at_)) return false;
  bool any = false;
  while (!queue_.empty()) {
    QueuedRecord record = queue_.take();
    lock.unlock();
    const bool written = journal_.append(record).has_value();
    lock.lock();
    journal_failed_ = !written;
    if (!written) {
      queue_.put_back(std::move(record));
      retry_at_ = now().mono + retry_after_ms;
      return false;
    }
    any = true;
  }
  return any;
}

// One chunk of each stream, so that records wait for no more than that.
bool DiskWriter::write_logs(std::unique_lock<std::mutex>& lock) {
  bool any = false;
  for (const Stream stream : both_streams) {
    StreamState& state = of(stream);
    const std::string_view bytes = state.ring.claim();
    if (bytes.empty()) continue;
    any = busy_ = true;
    lock.unlock();
    const Time at = now();
    state.file.write(bytes, at.mono.ms);
    lock.lock();
    busy_ = false;
    state.ring.release(bytes.size());
    report_rotation(state, stream);
    report_dropped(at, false);
  }
  if (any && !logs_waiting()) drained_.notify_all();
  return any;
}

void DiskWriter::report_rotation(StreamState& state, Stream stream) {
  if (state.rotations == state.file.rotations()) return;
  state.rotations = state.file.rotations();
  JsonText fields;
  fields.add("stream", to_string(stream)).add("base", state.file.base());
  push({"rotated", std::move(fields), now(), false, "rotated " + std::string(to_string(stream))});
}

void DiskWriter::report_dropped(Time at, bool last) {
  Dropped total = stalled_;
  int error = 0;
  for (StreamState& state : streams_) {
    total.bytes += state.file.dropped().bytes;
    total.lines += state.file.dropped().lines;
    if (state.file.dropped().bytes > 0) error = state.file.error_number();
  }
  if (total.bytes == reported_.bytes && messages_dropped_ == 0) return;
  if (!last && (journal_failed_ || at.mono < report_at_)) return;
  report_at_ = at.mono + report_after_ms;
  JsonText fields;
  fields.add("messages", static_cast<std::int64_t>(messages_dropped_))
      .add("log_bytes", static_cast<std::int64_t>(total.bytes - reported_.bytes))
      .add("log_lines", static_cast<std::int64_t>(total.lines - reported_.lines))
      .add("why",
           error == 0 ? std::string(dropped_by_a_stall) : std::generic_category().message(error));
  reported_ = total;
  messages_dropped_ = 0;
  push({"dropped", std::move(fields), at, false, ""});
}

}  // namespace trainward::shim

#include "supervisor/process/shim/disk/journal_queue.hpp"

#include <algorithm>

namespace trainward::shim {
namespace {

std::size_t size_of(const QueuedRecord& record) {
  return record.fields.members().size() + sizeof(QueuedRecord);
}

}  // namespace

std::string kind_of(const Message& message) {
  for (const std::string_view key :
       {"CHECKPOINT", "PHASE", "RESUMED_STEP", "TARGET_STEP", "STEP"}) {
    if (find(message, key)) return std::string(key);
  }
  return "other";
}

void JournalQueue::push(QueuedRecord record) {
  bytes_ += size_of(record);
  records_.push_back(std::move(record));
  if (bytes_ > max_bytes) make_room();
}

void JournalQueue::make_room() {
  // The newest of each kind stays; there are few kinds, so the rest is always enough.
  for (auto old = records_.begin(); old != records_.end() && bytes_ > max_bytes;) {
    const bool overtaken =
        !old->kind.empty() && std::any_of(old + 1, records_.end(), [&](const QueuedRecord& other) {
          return other.kind == old->kind;
        });
    if (!overtaken) {
      ++old;
      continue;
    }
    bytes_ -= size_of(*old);
    ++dropped_;
    old = records_.erase(old);
  }
}

QueuedRecord JournalQueue::take() {
  QueuedRecord record = std::move(records_.front());
  records_.pop_front();
  bytes_ -= size_of(record);
  return record;
}

void JournalQueue::put_back(QueuedRecord record) {
  bytes_ += size_of(record);
  records_.push_front(std::move(record));
}

std::uint64_t JournalQueue::take_dropped() { return std::exchange(dropped_, 0); }

}  // namespace trainward::shim

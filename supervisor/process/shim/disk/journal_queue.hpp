// Records on their way to the journal, kept while the disk is full or does not answer.
//
// Bounded: beyond max_bytes the oldest message that a newer one of its kind (step, phase,
// checkpoint, …) has overtaken is let go and counted, so that what remains still says where the
// worker is. Records that are not messages are never let go. No thread rule of its own: every call
// is made under the owner's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "common/base/json/json_text.hpp"
#include "common/base/time.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::shim {

struct QueuedRecord {
  std::string type;
  JsonText fields;
  Time at;  // when it happened, however much later it is written
  bool sync = false;
  std::string kind;  // of a message; empty: must not be let go
};

class JournalQueue {
 public:
  static constexpr std::size_t max_bytes = 64 * 1024;

  void push(QueuedRecord record);
  [[nodiscard]] bool empty() const { return records_.empty(); }
  [[nodiscard]] bool half_full() const { return bytes_ > max_bytes / 2; }
  // The oldest record, taken out; put back at its place when the disk refused it.
  QueuedRecord take();
  void put_back(QueuedRecord record);
  // Messages let go since the last call.
  std::uint64_t take_dropped();

 private:
  void make_room();
  std::deque<QueuedRecord> records_;
  std::size_t bytes_ = 0;
  std::uint64_t dropped_ = 0;
};

// What a message is about, in order of importance to later readers.
std::string kind_of(const Message& message);

}  // namespace trainward::shim

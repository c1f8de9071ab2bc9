// What one channel has been told, is to be told and could not be told: rows of the courier's
// journal.
//
// Each method is a statement or two inside of the caller's transaction.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.hpp"
#include "supervisor/courier/jobs/channels/bucket.hpp"
#include "supervisor/courier/jobs/channels/pause.hpp"
#include "supervisor/record/store/rows/sqlite_connection.hpp"

namespace trainward::courier {

// For Journal::open().
std::vector<std::string> channel_tables();

namespace delivery {
inline constexpr std::string_view waiting = "waiting";
inline constexpr std::string_view sending = "sending";  // on its way, or lost on it
inline constexpr std::string_view sent = "sent";
inline constexpr std::string_view perhaps_twice =
    "perhaps_twice";                                      // sent; an earlier try may have been
inline constexpr std::string_view replaced = "replaced";  // another message says it, too
inline constexpr std::string_view failed = "failed";      // given up
inline constexpr std::string_view skipped = "skipped";    // taken back, or nothing for this channel
}  // namespace delivery

struct Delivery {
  std::int64_t message = 0;
  std::string state = std::string(delivery::waiting);
  int tries = 0;
  std::int64_t due_ms = 0;   // not told before
  std::int64_t next_ms = 0;  // of the next try; the channel's pause counts besides
  std::int64_t at_ms = 0;    // when the state was entered
  std::string error;
  bool in_doubt = false;  // a try was lost, and may have been taken
  std::int64_t episode = 0;
  std::string tier;
  std::string kind;
  std::string program;
  std::string title;
  std::vector<std::string> more;  // titles of those that are told with it
  std::int64_t more_count = 0;
};

struct ChannelState {
  std::int64_t cursor = 0;            // messages up to this id have been looked at
  std::int64_t failing_since_ms = 0;  // 0: the last try was good
  std::int64_t last_ok_ms = 0;        // 0: never
  std::string error;                  // of the last try that was not
  Bucket bucket;
  Pause pause = {};
};

class Queue {
 public:
  explicit Queue(std::string channel) : channel_(std::move(channel)) {}
  [[nodiscard]] const std::string& channel() const { return channel_; }

  // Nothing: this channel is new.
  Result<std::optional<ChannelState>> state(store::Connection& db) const;
  Status put_state(store::Connection& db, const ChannelState& state, std::string_view kind) const;

  Status put(store::Connection& db, const Delivery& delivery) const;
  // Oldest first, a bounded number of them. What was put there by a clock that has been set back
  // since is due.
  Result<std::vector<Delivery>> waiting(store::Connection& db, std::int64_t now_ms) const;
  // What was on its way when the courier ended waits again; `in_doubt`: and may have been taken.
  Status recover(store::Connection& db, bool in_doubt, std::int64_t now_ms) const;
  // Whatever was to wait by itself is tried when the channel is.
  Status hurry(store::Connection& db, std::int64_t now_ms) const;
  // Whether something of the episode was told here, or is to be.
  Result<bool> has_told(store::Connection& db, std::int64_t episode) const;
  // Deletes the state of channels not among `all`, so that a later one of that name starts fresh.
  // Gives up what is still to be told to any channel not among `told`.
  static Status forget_others(store::Connection& db, const std::vector<std::string>& all,
                              const std::vector<std::string>& told, std::int64_t now_ms);
  // What came to its end a month ago.
  Status prune(store::Connection& db, std::int64_t now_ms) const;

 private:
  std::string channel_;
};

}  // namespace trainward::courier

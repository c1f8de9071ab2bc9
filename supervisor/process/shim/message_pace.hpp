// How many of a worker's messages are kept.
//
// A worker may say a hundred thousand things a second, by mistake or not, and each would be a
// record that root writes, past the worker's own quota. So what comes faster than rates allow waits
// here for a moment, where a newer message of its kind takes its place and counts it:
//   what repeats (steps, signs of life)      8,000 at once, then the newest of each 10 ms
//   what does not (phases, checkpoints, …)   4,000 at once, then the newest of its kind each 10 ms
//   all together                             4 MiB at once, then 512 KiB a second; what does not
//                                            repeat may have 1 MiB more
// What is kept stays in its order of arrival, and nothing that waits is lost: the writer asks for
// the rest when the worker has ended.
//
// Pure: time comes in. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/base/time.hpp"
#include "common/base/token_bucket.hpp"
#include "common/protocol/protocol.hpp"

namespace trainward::shim {

class MessagePace {
 public:
  static constexpr std::int64_t window_ms = 10;
  // `stands_for`: messages of its kind, itself among them.
  using Keep = std::function<void(const Message& message, Time at, std::int64_t stands_for)>;

  // What is to be written goes to `keep`, at once or in a later call.
  void offer(Message message, Time at, const Keep& keep);
  void look(MonoTime at, const Keep& keep);  // at what waits
  void finish(const Keep& keep);             // nothing waits after this
  // After how long to look again; -1: nothing waits.
  [[nodiscard]] int wait_ms() const { return waiting_.empty() ? -1 : int{window_ms}; }

  [[nodiscard]] std::int64_t left_out() const { return left_out_; }  // in all
  [[nodiscard]] Time left_out_since() const { return left_out_since_; }

 private:
  struct Waiting {
    Message message;
    Time at;
    std::int64_t stands_for = 1;
    std::string_view kind;
    bool repeats = false;
    std::size_t bytes = 0;
  };
  [[nodiscard]] bool may_pass(bool repeats) const;
  void pass(const Waiting& one, const Keep& keep);
  void wait(Waiting one);

  TokenBucket repeating_{8'000, 1000.0 / window_ms};
  TokenBucket single_{4'000, 1000.0 / window_ms};
  TokenBucket bytes_{4.0 * 1024 * 1024, 512.0 * 1024};
  std::vector<Waiting> waiting_;  // in the order of arrival, one of each kind
  std::int64_t left_out_ = 0;
  Time left_out_since_;
};

}  // namespace trainward::shim

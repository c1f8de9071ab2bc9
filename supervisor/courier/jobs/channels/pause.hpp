// When a channel is asked again after something that it did not take. The pause belongs to the
// channel and not to the message: another message is no reason to come sooner. It is kept in the
// courier's journal, so neither is a new courier. Pure.
#pragma once

#include <cstdint>
#include <string>

#include "supervisor/courier/forms/answer.hpp"
#include "supervisor/courier/net/http_retry.hpp"

namespace trainward::courier {

struct Pause {
  int tries = 0;         // that failed in a row, all of this kind
  bool refused = false;  // until somebody puts something right, most likely
  std::int64_t set_ms = 0;
  std::int64_t asked_ms = 0;  // the receiver wants nothing before
  std::int64_t until_ms = 0;  // nor do we come before, by ourselves
  std::string way = {};       // how the receiver was reached, way_of()

  // A clock that was set back since ends it.
  [[nodiscard]] bool lasts(std::int64_t now_ms) const;
  // When something may leave. `urgent`: something critical waits that was not tried yet; what we
  // would wait by ourselves is then a minute at most.
  [[nodiscard]] std::int64_t ends_ms(std::int64_t now_ms, bool urgent) const;
  // When to look at the latest whether the way has changed, which ends what is not asked for.
  [[nodiscard]] std::int64_t look_ms(std::int64_t now_ms, bool urgent) const;
  void end_unless_asked();
};

// How long they are: after 5 s, longer and longer up to 15 min; where the receiver refuses, after
// 15 min, up to 4 h. Shifted by up to a quarter.
class Pauses {
 public:
  explicit Pauses(std::uint64_t seed);
  // Not longer than `most_ms` but where the receiver asks for it.
  void fail(Pause& pause, const Verdict& verdict, std::string way, std::int64_t now_ms,
            std::int64_t most_ms = 24 * 3'600'000LL);
  // When a message that was refused so often is tried again.
  std::int64_t next_ms(const Pause& pause, int tries, std::int64_t now_ms);

 private:
  net::Backoff soon_;
  net::Backoff late_;
};

}  // namespace trainward::courier

// Hours of the day where people are: when they want to be left alone, and when the digest is due.
#pragma once

#include <cstdint>
#include <functional>

#include "supervisor/decide/notify/notify_policy.hpp"

namespace trainward::notify {

// By how much local time is ahead of UTC at that moment, in milliseconds. Asks the machine, so
// the caller passes it.
using Zone = std::function<std::int64_t(std::int64_t wall_ms)>;

// 0 to 1439.
int minute_of_day(std::int64_t wall_ms, const Zone& zone);

// The next moment after `wall_ms` at which clocks on the wall show this minute of the day. A minute
// that a change of the clocks leaves out comes as much later; one that it has twice counts once.
std::int64_t next_at(int minute, std::int64_t wall_ms, const Zone& zone);

bool is_quiet(const Quiet& quiet, std::int64_t wall_ms, const Zone& zone);

// When something that nobody has to act on may be told: `wall_ms`, or after quiet hours, with the
// digest where one comes before three hours have passed since their end.
std::int64_t unhurried(const Policy& policy, std::int64_t wall_ms, const Zone& zone);

// A message that waits for the digest is due a while after it: receivers of the digest get it
// there. Receivers without digests get the message itself, as everybody does if no digest comes in
// the end.
inline constexpr std::int64_t after_digest_ms = 600'000;

}  // namespace trainward::notify

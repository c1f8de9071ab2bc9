#include "supervisor/decide/notify/local_time.hpp"

namespace trainward::notify {
namespace {

constexpr std::int64_t minute_ms = 60'000;
constexpr std::int64_t whole_day_ms = 86'400'000;
// So long after the quiet hours a message still waits for the digest.
constexpr std::int64_t longest_for_digest_ms = 3 * 3'600'000;

std::int64_t ms_of_day(std::int64_t wall_ms, const Zone& zone) {
  const std::int64_t local = wall_ms + zone(wall_ms);
  return ((local % whole_day_ms) + whole_day_ms) % whole_day_ms;
}

}  // namespace

int minute_of_day(std::int64_t wall_ms, const Zone& zone) {
  return static_cast<int>(ms_of_day(wall_ms, zone) / minute_ms);
}

std::int64_t next_at(int minute, std::int64_t wall_ms, const Zone& zone) {
  const std::int64_t wanted = minute * minute_ms;
  const std::int64_t midnight = wall_ms - ms_of_day(wall_ms, zone);
  std::int64_t at = midnight + wanted;
  // The clocks may be changed between now and then; a day has 23 to 25 hours.
  for (;;) {
    const std::int64_t moved = zone(at) - zone(wall_ms);
    const std::int64_t settled = at - moved;
    if (settled > wall_ms) return settled;
    at += whole_day_ms;
  }
}

bool is_quiet(const Quiet& quiet, std::int64_t wall_ms, const Zone& zone) {
  const int now = minute_of_day(wall_ms, zone);
  if (quiet.from == quiet.until) return false;
  if (quiet.from < quiet.until) return now >= quiet.from && now < quiet.until;
  return now >= quiet.from || now < quiet.until;
}

std::int64_t unhurried(const Policy& policy, std::int64_t wall_ms, const Zone& zone) {
  if (!policy.quiet || !is_quiet(*policy.quiet, wall_ms, zone)) return wall_ms;
  const std::int64_t end = next_at(policy.quiet->until, wall_ms, zone);
  if (!policy.digest) return end;
  const std::int64_t digest = next_at(*policy.digest, wall_ms, zone);
  return digest <= end + longest_for_digest_ms ? digest + after_digest_ms : end;
}

}  // namespace trainward::notify

#include "supervisor/courier/jobs/channels/pause.hpp"

#include <algorithm>
#include <utility>

namespace trainward::courier {
namespace {

constexpr std::int64_t moved_back_ms = 60'000;  // what moves a clock less is no reason to hurry
constexpr std::int64_t most_of_urgent_ms = 60'000;
constexpr std::int64_t look_each_ms = 30'000;
constexpr std::int64_t first_of_refused_ms = 900'000;
constexpr std::int64_t most_of_refused_ms = 4 * 3'600'000LL;

}  // namespace

bool Pause::lasts(std::int64_t now_ms) const {
  return now_ms >= set_ms - moved_back_ms && now_ms < std::max(asked_ms, until_ms);
}

std::int64_t Pause::ends_ms(std::int64_t now_ms, bool urgent) const {
  if (!lasts(now_ms)) return now_ms;
  const std::int64_t ours = urgent ? std::min(until_ms, set_ms + most_of_urgent_ms) : until_ms;
  return std::max({asked_ms, ours, now_ms});
}

std::int64_t Pause::look_ms(std::int64_t now_ms, bool urgent) const {
  const std::int64_t look = now_ms + look_each_ms;
  const std::int64_t ends = ends_ms(now_ms, urgent);
  return ends > now_ms ? std::min(ends, std::max(asked_ms, look)) : look;
}

void Pause::end_unless_asked() {
  tries = 0;
  refused = false;
  until_ms = asked_ms;
}

Pauses::Pauses(std::uint64_t seed)
    : soon_(seed), late_(seed, first_of_refused_ms, most_of_refused_ms) {}

void Pauses::fail(Pause& pause, const Verdict& verdict, std::string way, std::int64_t now_ms,
                  std::int64_t most_ms) {
  const bool refused = verdict.kind == Verdict::Kind::refused;
  pause.tries = refused == pause.refused ? pause.tries + 1 : 1;
  pause.refused = refused;
  pause.set_ms = now_ms;
  pause.asked_ms = now_ms + verdict.wait_ms.value_or(0);
  const std::int64_t ours = (refused ? late_ : soon_).pause_ms(pause.tries);
  pause.until_ms = std::max(pause.asked_ms, now_ms + std::min(ours, most_ms));
  pause.way = std::move(way);
}

std::int64_t Pauses::next_ms(const Pause& pause, int tries, std::int64_t now_ms) {
  if (!pause.refused) return 0;  // the channel's pause is all there is to wait for
  return tries > pause.tries ? now_ms + late_.pause_ms(tries) : pause.until_ms;
}

}  // namespace trainward::courier

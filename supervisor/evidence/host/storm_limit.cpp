#include "supervisor/evidence/host/storm_limit.hpp"

#include <algorithm>
#include <utility>

namespace trainward::host {

bool StormLimit::admit(const std::string& kind, MonoTime at) {
  const auto [place, fresh] = buckets_.try_emplace(kind, Bucket{burst_, at, 0});
  Bucket& bucket = place->second;
  const std::int64_t earned = std::max<std::int64_t>(at - bucket.since, 0) / every_ms_;
  if (earned > 0) {
    bucket.tokens = static_cast<int>(
        std::min<std::int64_t>(burst_, std::min<std::int64_t>(earned, burst_) + bucket.tokens));
    bucket.since += earned * every_ms_;
  }
  if (bucket.tokens == 0) {
    ++bucket.held_back;
    return false;
  }
  if (bucket.tokens == burst_) bucket.since = at;  // a full bucket earns nothing
  --bucket.tokens;
  return true;
}

std::int64_t StormLimit::take_held_back(const std::string& kind) {
  const auto place = buckets_.find(kind);
  return place == buckets_.end() ? 0 : std::exchange(place->second.held_back, 0);
}

}  // namespace trainward::host

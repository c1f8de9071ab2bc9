// Times that the tests of this folder share.
#pragma once

#include <cstdint>

#include "supervisor/decide/notify/local_time.hpp"

namespace trainward::notify {

inline constexpr std::int64_t minute_ms = 60'000;
inline constexpr std::int64_t hour_ms = 60 * minute_ms;
inline constexpr std::int64_t day_ms = 24 * hour_ms;
inline constexpr std::int64_t midnight = 1'763'596'800'000;  // 2025-11-20T00:00:00Z

inline std::int64_t utc(std::int64_t /*wall_ms*/) { return 0; }

}  // namespace trainward::notify

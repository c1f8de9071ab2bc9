#include "common/base/time.hpp"

#include <fmt/format.h>

#include <ctime>

namespace trainward {

std::string iso8601(std::int64_t wall_ms) {
  const std::int64_t ms = ((wall_ms % 1000) + 1000) % 1000;
  const std::time_t seconds = static_cast<std::time_t>((wall_ms - ms) / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, ms);
}

}  // namespace trainward

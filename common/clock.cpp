#include "common/clock.hpp"

#include <fmt/format.h>

#include <ctime>

#include "common/file.hpp"
#include "common/text.hpp"

namespace trainward {
namespace {

std::int64_t read_clock_ms(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

}  // namespace

Time now() { return {read_clock_ms(CLOCK_REALTIME), read_clock_ms(CLOCK_BOOTTIME)}; }

std::string iso8601(std::int64_t wall_ms) {
  const std::int64_t ms = ((wall_ms % 1000) + 1000) % 1000;
  const std::time_t seconds = static_cast<std::time_t>((wall_ms - ms) / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, ms);
}

std::string boot_id() {
  auto text = read_file("/proc/sys/kernel/random/boot_id", 64);
  return text ? std::string(trim(*text)) : std::string();
}

}  // namespace trainward

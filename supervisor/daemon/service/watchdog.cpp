#include "supervisor/daemon/service/watchdog.hpp"

#include <systemd/sd-daemon.h>

#include <algorithm>

namespace trainward::daemon {

std::int64_t Watchdog::interval_from_environment() {
  std::uint64_t usec = 0;
  return sd_watchdog_enabled(0, &usec) > 0 ? static_cast<std::int64_t>(usec / 1'000) : 0;
}

Watchdog::Watchdog(Loop& loop, std::int64_t interval_ms, std::function<void()> feed)
    : loop_(loop),
      period_ms_(std::max<std::int64_t>(interval_ms / 3, 1)),
      feed_(std::move(feed)),
      timer_(loop) {
  if (interval_ms <= 0) return;
  feed_();
  arm();
}

void Watchdog::arm() {
  timer_.after(period_ms_, [this] {
    // Behind everything that waits: a queue that grows faster than it drains is no health. The
    // watchdog lives as long as its loop runs.
    loop_.post([this] {
      feed_();
      arm();
    });
  });
}

}  // namespace trainward::daemon

#include "common/os/clock.hpp"

#include <ctime>
#include <mutex>

#include "common/base/text.hpp"
#include "common/os/file.hpp"

namespace trainward {
namespace {

std::int64_t read_clock_ms(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1000 + t.tv_nsec / 1'000'000;
}

}  // namespace

Time now() {
  return {WallTime{read_clock_ms(CLOCK_REALTIME)}, MonoTime{read_clock_ms(CLOCK_BOOTTIME)}};
}

std::string boot_id() {
  // It does not change while a process lives, and must be there when no descriptor is left.
  static std::mutex mutex;
  static std::string known;
  const std::lock_guard lock(mutex);
  if (known.empty()) {
    if (auto text = read_file("/proc/sys/kernel/random/boot_id", 64)) known = trim(*text);
  }
  return known;
}

bool started_since(std::string_view boot) {
  const std::string now = boot_id();
  return !boot.empty() && !now.empty() && boot != now;
}

}  // namespace trainward

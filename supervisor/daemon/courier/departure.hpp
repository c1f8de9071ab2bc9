// The end of a daemon that ends by itself, as with --once: its box may be gone soon, so it waits
// until the courier has brought away what there is, for as long as that gets on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/base/time.hpp"
#include "supervisor/daemon/base/console.hpp"
#include "supervisor/daemon/courier/courier.hpp"
#include "supervisor/daemon/loop/loop.hpp"
#include "supervisor/orders/left.hpp"

namespace trainward::daemon {

// How long that is worth waiting for. Pure.
class DepartureWait {
 public:
  // Without any progress nobody answers.
  static constexpr std::int64_t silence_ms = 20'000;

  DepartureWait(MonoTime began, std::int64_t most_ms)
      : until_(began + most_ms), progressed_(began) {}

  // Not later than that.
  void until(MonoTime at) { until_ = std::min(until_, at); }
  void heard(const orders::Left& left, MonoTime at);
  [[nodiscard]] MonoTime ends() const { return std::min(until_, progressed_ + silence_ms); }

 private:
  MonoTime until_;
  MonoTime progressed_;
  std::optional<orders::Left> before_;
};

class Departure {
 public:
  // `over` is called once, with what stayed behind. Borrows loop, courier and console.
  Departure(Loop& loop, Courier& courier, Console& console, std::int64_t most_ms,
            std::function<void(const std::vector<orders::Left::Job>&)> over);
  ~Departure();
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

  // Not later than that; `ms` 0 or less: at once, when it has been heard what there is.
  void within(std::int64_t ms);

 private:
  void heard(const orders::Left& left);
  void arm();
  void end();

  Courier& courier_;
  Console& console_;
  std::function<void(const std::vector<orders::Left::Job>&)> over_;
  DepartureWait wait_;
  std::vector<orders::Left::Job> left_;
  Timer timer_;
};

}  // namespace trainward::daemon

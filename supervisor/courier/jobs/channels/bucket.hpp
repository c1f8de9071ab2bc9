// How fast a channel is told: one message a second, five at once; twenty an hour. Pure.
#pragma once

#include <cstdint>

namespace trainward::courier {

struct Bucket {
  static constexpr double most_at_once = 5;
  static constexpr double most_an_hour = 20;

  double at_once = most_at_once;
  double hour = most_an_hour;
  std::int64_t at_ms = 0;  // when it was as it is

  // Filled up to then. A clock that was set back gives nothing, and takes nothing.
  [[nodiscard]] Bucket at(std::int64_t now_ms) const;
  // 0: a message may be told now; else in how many ms.
  [[nodiscard]] std::int64_t wait_ms() const;
  void take();
};

}  // namespace trainward::courier

// Whether the worker's memory grows until it runs out.
//
// Samples come with heartbeats, at most a few a minute. A least-squares line over the attempt's
// samples says when the memory ends; a worker that would get there soon is recycled at a checkpoint
// while it can still write one.
#pragma once

#include <boost/describe.hpp>
#include <cstdint>
#include <optional>

#include "common/base/time.hpp"

namespace trainward::core {

struct LeakWatch {
  std::int64_t samples = 0;
  MonoTime first_mono_ms;
  std::int64_t first_bytes = 0;
  std::int64_t last_bytes = 0;
  // Sums over x = seconds and y = MiB since the first sample.
  double sum_x = 0;
  double sum_y = 0;
  double sum_xx = 0;
  double sum_xy = 0;
  friend bool operator==(const LeakWatch&, const LeakWatch&) = default;
};
BOOST_DESCRIBE_STRUCT(LeakWatch, (),
                      (samples, first_mono_ms, first_bytes, last_bytes, sum_x, sum_y, sum_xx,
                       sum_xy))

void add_sample(LeakWatch& watch, MonoTime at, std::int64_t bytes);

// Milliseconds until `available_bytes` more are used up at this rate; nothing when there is no
// steady growth (fewer than 16 samples, or less than a tenth more than at first).
std::optional<std::int64_t> exhausted_in_ms(const LeakWatch& watch, std::int64_t available_bytes);

}  // namespace trainward::core

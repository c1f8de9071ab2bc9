// When what the simulated chips compute is ready.
//
// Values are computed at once, by one processor for all chips; these are the clocks that go with
// them. Each chip does one program after another, and none before its arguments are ready. A sum
// over devices waits for its chips, and for their sums before it, but a chip goes on meanwhile with
// what does not need it. Pure: the caller says what time it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainer/graph/op.hpp"
#include "trainer/n300_sim/fault_script.hpp"

namespace trainward::n300 {

using Instant = std::chrono::steady_clock::time_point;

struct SumOverDevices {
  graph::op::AllReduce over;
  std::int64_t bytes = 0;  // on each device
};

// A stage of a program that has run (stage_plan.hpp).
struct StageTime {
  std::chrono::nanoseconds computing{0};  // of a chip that is not slow; 0: it only sums
  std::vector<SumOverDevices> sums = {};  // after that; one for those over the same devices

  void add(const SumOverDevices& sum);
};

// What a sum over devices takes: the latency, and 2 (N - 1) / N of the bytes of each of N devices
// at the link's rate, as in a ring.
std::chrono::nanoseconds time_of_sum(const Link& link, std::int64_t devices, std::int64_t bytes);

class Timelines {
 public:
  // Of each chip: how many times as long as others it computes. Without a link sums take no time.
  explicit Timelines(std::vector<double> slowness, std::optional<Link> link = std::nullopt);

  // Puts a program that was started at `now` onto the first ready.size() chips. `ready` says when
  // each chip's arguments are there, and then when its results are.
  void add(Instant now, std::span<const StageTime> stages, std::vector<Instant>& ready);

  // When the last chip has done all that it was given.
  [[nodiscard]] Instant chips_end() const;

 private:
  void compute(const StageTime& stage, std::vector<Instant>& ready);
  void sum(const SumOverDevices& sum, std::vector<Instant>& ready);

  std::vector<double> slowness_;
  std::optional<Link> link_;
  std::vector<Instant> busy_;      // each chip, until then
  std::vector<Instant> sums_end_;  // each chip's links, until then
};

}  // namespace trainward::n300

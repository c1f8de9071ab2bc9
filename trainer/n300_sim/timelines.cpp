#include "trainer/n300_sim/timelines.hpp"

#include <algorithm>
#include <cmath>

namespace trainward::n300 {

void StageTime::add(const SumOverDevices& sum) {
  const auto same = std::ranges::find(sums, sum.over, &SumOverDevices::over);
  if (same == sums.end()) {
    sums.push_back(sum);
  } else {
    same->bytes += sum.bytes;
  }
}

std::chrono::nanoseconds time_of_sum(const Link& link, std::int64_t devices, std::int64_t bytes) {
  const auto n = static_cast<double>(devices);
  const double ns =
      1e3 * link.latency_us + 2 * (n - 1) / n * static_cast<double>(bytes) / link.gb_per_s;
  return std::chrono::nanoseconds(std::llround(ns));
}

Timelines::Timelines(std::vector<double> slowness, std::optional<Link> link)
    : slowness_(std::move(slowness)),
      link_(link),
      busy_(slowness_.size()),
      sums_end_(slowness_.size()) {}

void Timelines::add(Instant now, std::span<const StageTime> stages, std::vector<Instant>& ready) {
  for (Instant& at : ready) at = std::max(at, now);
  for (const StageTime& stage : stages) {
    compute(stage, ready);
    for (const SumOverDevices& one : stage.sums) sum(one, ready);
  }
}

void Timelines::compute(const StageTime& stage, std::vector<Instant>& ready) {
  if (stage.computing.count() == 0) return;
  for (std::size_t chip = 0; chip < ready.size(); ++chip) {
    const auto time = std::chrono::duration_cast<Instant::duration>(
        std::chrono::duration<double, std::nano>(stage.computing) * slowness_[chip]);
    ready[chip] = busy_[chip] = std::max(ready[chip], busy_[chip]) + time;
  }
}

void Timelines::sum(const SumOverDevices& sum, std::vector<Instant>& ready) {
  for (const auto& group : graph::groups_of(sum.over, static_cast<std::int64_t>(ready.size()))) {
    Instant end{};
    for (const std::int64_t device : group) {
      const auto chip = static_cast<std::size_t>(device);
      end = std::max({end, ready[chip], sums_end_[chip]});
    }
    if (link_) end += time_of_sum(*link_, sum.over.devices, sum.bytes);
    for (const std::int64_t device : group) {
      const auto chip = static_cast<std::size_t>(device);
      ready[chip] = sums_end_[chip] = end;
    }
  }
}

Instant Timelines::chips_end() const { return *std::max_element(busy_.begin(), busy_.end()); }

}  // namespace trainward::n300

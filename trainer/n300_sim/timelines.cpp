#include "trainer/n300_sim/timelines.hpp"

#include <algorithm>
#include <cmath>

namespace trainward::n300 {

std::chrono::nanoseconds time_of_sum(const Link& link, std::size_t devices, std::int64_t bytes) {
  const auto n = static_cast<double>(devices);
  const double ns =
      1e3 * link.latency_us + 2 * (n - 1) / n * static_cast<double>(bytes) / link.gb_per_s;
  return std::chrono::nanoseconds(std::llround(ns));
}

Timelines::Timelines(std::vector<double> slowness, std::optional<Link> link)
    : slowness_(std::move(slowness)), link_(link), busy_(slowness_.size()) {}

void Timelines::add(Instant now, std::span<const StageTime> stages, std::vector<Instant>& ready) {
  for (Instant& at : ready) at = std::max(at, now);
  for (const StageTime& stage : stages) {
    compute(stage, ready);
    sum(stage, ready);
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

void Timelines::sum(const StageTime& stage, std::vector<Instant>& ready) {
  if (stage.summed_bytes == 0) return;
  sums_end_ = std::max(sums_end_, *std::max_element(ready.begin(), ready.end()));
  if (link_) sums_end_ += time_of_sum(*link_, ready.size(), stage.summed_bytes);
  std::fill(ready.begin(), ready.end(), sums_end_);
}

Instant Timelines::chips_end() const { return *std::max_element(busy_.begin(), busy_.end()); }

}  // namespace trainward::n300

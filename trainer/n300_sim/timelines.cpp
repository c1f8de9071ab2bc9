#include "trainer/n300_sim/timelines.hpp"

#include <algorithm>

namespace trainward::n300 {

Timelines::Timelines(std::vector<double> slowness)
    : slowness_(std::move(slowness)), busy_(slowness_.size()) {}

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
  std::fill(ready.begin(), ready.end(), sums_end_);
}

Instant Timelines::end() const {
  return std::max(sums_end_, *std::max_element(busy_.begin(), busy_.end()));
}

}  // namespace trainward::n300

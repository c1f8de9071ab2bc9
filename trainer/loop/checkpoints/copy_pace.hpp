// How often the state is copied into memory: so often that it takes at most a hundredth of the
// time.
//
// What is not copied is repeated after a crash, so every step is best, and where the copy fits
// beside a step that costs nothing. What a copy costs is what the training waited for it and, where
// every processor has work of its own, the processor's time that it took. The median of the last
// ones counts: one during which the machine was busy elsewhere says nothing of the next. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace trainward::trainer {

class CopyPace {
 public:
  // `spare`: a processor is left for the copy beside those that train.
  explicit CopyPace(bool spare) : spare_(spare) {}

  void stepped(std::chrono::nanoseconds took) {
    ++since_;
    step_ns_ = step_ns_ == 0 ? count(took) : 0.9 * step_ns_ + 0.1 * count(took);
  }
  void copied(std::chrono::nanoseconds waited, std::chrono::nanoseconds processor) {
    costs_[copies_++ % costs_.size()] = count(waited) + (spare_ ? 0 : count(processor));
  }
  void begun() { since_ = 0; }

  // Steps from one copy to the next.
  [[nodiscard]] std::int64_t every() const {
    if (copies_ < enough || step_ns_ <= 0) return 1;
    auto costs = costs_;
    const auto end = costs.begin() + static_cast<std::ptrdiff_t>(std::min(copies_, costs.size()));
    const auto middle = costs.begin() + (end - costs.begin()) / 2;
    std::nth_element(costs.begin(), middle, end);
    return static_cast<std::int64_t>(
        std::clamp(std::ceil(*middle / (most_share * step_ns_)), 1.0, longest));
  }
  [[nodiscard]] bool due() const { return since_ >= every(); }

 private:
  static constexpr double most_share = 0.01;
  static constexpr double longest = 1e6;
  static constexpr std::size_t enough = 3;  // copies, to know what one costs
  static double count(std::chrono::nanoseconds time) { return static_cast<double>(time.count()); }

  bool spare_;
  std::int64_t since_ = 0;  // steps since the last copy was begun
  double step_ns_ = 0;      // smoothed
  std::array<double, 9> costs_{};
  std::size_t copies_ = 0;
};

}  // namespace trainward::trainer

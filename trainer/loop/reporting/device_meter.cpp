#include "trainer/loop/reporting/device_meter.hpp"

#include <algorithm>

namespace trainward::trainer {
namespace {

constexpr std::int64_t least_steps = 10;
constexpr std::chrono::milliseconds least_time{100};

double ms_of(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

Result<std::optional<DeviceWindow>> DeviceMeter::after(const Step& step) {
  if (!began_) {  // the first step warms up: it says nothing of the others
    began_ = step.at;
    auto uses = model_.take_use();
    if (!uses) return propagate(uses);
    return std::nullopt;
  }
  ++steps_;
  tokens_ += step.tokens;
  input_wait_ += step.input_wait;
  if (steps_ < least_steps || step.at - *began_ < least_time) return std::nullopt;
  began_ = step.at;
  return close(step.number);
}

Result<std::optional<DeviceWindow>> DeviceMeter::close(std::int64_t step) {
  auto uses = model_.take_use();
  if (!uses) return propagate(uses);
  auto window = window_of(step, *uses);
  steps_ = 0;
  tokens_ = 0;
  input_wait_ = {};
  if (window.devices.empty()) return std::nullopt;
  return window;
}

Result<std::optional<DeviceWindow>> DeviceMeter::before_break(std::int64_t newest_step) {
  if (steps_ == 0) return std::nullopt;
  return close(newest_step);
}

Status DeviceMeter::after_break(std::chrono::steady_clock::time_point at) {
  if (!began_) return {};
  began_ = at;
  auto meanwhile = model_.take_use();
  if (!meanwhile) return propagate(meanwhile);
  return {};
}

DeviceWindow DeviceMeter::window_of(std::int64_t step, const std::vector<PartUse>& uses) const {
  const auto steps = static_cast<double>(steps_);
  const double own_tokens = static_cast<double>(tokens_) / static_cast<double>(uses.size());
  DeviceWindow window{step, steps_, {}};
  for (std::size_t i = 0; i < std::min(uses.size(), max_devices); ++i) {
    const PartUse& use = uses[i];
    DeviceFigures figures;
    figures.input_wait_ms = ms_of(input_wait_) / steps;
    if (use.loss) figures.loss = *use.loss / steps;
    if (use.collective) figures.collective_ms = ms_of(*use.collective) / steps;
    if (use.compute) figures.compute_ms = ms_of(*use.compute) / steps;
    if (use.compute && use.compute->count() > 0) {
      figures.tokens_per_second = own_tokens / (ms_of(*use.compute) / 1000);
    }
    if (use.memory) {
      figures.memory = use.memory->most;
      figures.memory_limit = use.memory->limit;
    }
    window.devices.push_back({i < names_.size() ? names_[i] : std::to_string(i), figures});
  }
  return window;
}

}  // namespace trainward::trainer

#include "trainer/device/device_times.hpp"

#include <algorithm>
#include <utility>

namespace trainward::trainer {

void DeviceTimes::started(Work work, Moment at, pjrt::Completion completion) {
  if (completion.devices() != devices_.size()) return;
  running_.push_back({work, at, std::move(completion)});
  count_ended();
}

void DeviceTimes::count_ended() {
  for (; !running_.empty() && running_.front().completion.ended(); running_.pop_front()) {
    const Running& program = running_.front();
    for (std::size_t d = 0; d < devices_.size(); ++d) {
      Line& line = devices_[d];
      const Moment ended = *program.completion.ended(d);
      const bool exchange = program.work == Work::exchange;
      Moment begun = std::max(program.started, line.computed);
      if (program.work != Work::compute) begun = std::max(begun, line.exchanged);
      auto& use = exchange ? line.use.exchange : line.use.compute;
      use += std::max(ended - begun, Moment::duration(0));
      auto& last = exchange ? line.exchanged : line.computed;
      last = std::max(last, ended);
    }
  }
}

std::vector<DeviceTimes::Use> DeviceTimes::take() {
  count_ended();
  std::vector<Use> uses;
  for (Line& line : devices_) uses.push_back(std::exchange(line.use, {}));
  return uses;
}

}  // namespace trainward::trainer

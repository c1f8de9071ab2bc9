// What each device or rank did, some steps at a time, for a supervisor to compare them.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/base/error.hpp"
#include "common/protocol/device_figures.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

class DeviceMeter {
 public:
  // `names`: of the model's devices or ranks, in their order. The model outlives it.
  DeviceMeter(std::vector<std::string> names, Trainable& model)
      : names_(std::move(names)), model_(model) {}

  struct Step {
    std::int64_t number = 0;
    std::int64_t tokens = 0;  // of all devices
    std::chrono::nanoseconds input_wait{};
    std::chrono::steady_clock::time_point at;  // when it ended
  };
  // After each step. A window of at least ten steps and a tenth of a second, when one is full.
  Result<std::optional<DeviceWindow>> after(const Step& step);

  // Around what is no step, such as an evaluation: the window ends before it, whatever its length,
  // and what is done meanwhile counts for none.
  Result<std::optional<DeviceWindow>> before_break(std::int64_t newest_step);
  Status after_break(std::chrono::steady_clock::time_point at);

 private:
  Result<std::optional<DeviceWindow>> close(std::int64_t step);
  [[nodiscard]] DeviceWindow window_of(std::int64_t step, const std::vector<PartUse>& uses) const;

  std::vector<std::string> names_;
  Trainable& model_;
  std::int64_t steps_ = 0;  // of the window so far
  std::int64_t tokens_ = 0;
  std::chrono::nanoseconds input_wait_{};
  std::optional<std::chrono::steady_clock::time_point> began_;
};

}  // namespace trainward::trainer

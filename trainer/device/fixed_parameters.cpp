#include "trainer/device/fixed_parameters.hpp"

#include <utility>

namespace trainward::trainer {

Status FixedParameters::upload(Device& device, const Places& which) {
  for (const std::size_t place : which) {
    const ParameterInfo& info = state_->table.infos[place];
    if (info.trained() || !values_[place].empty()) continue;
    auto value = device.begin_upload({info.element, info.shape}, state_->fixed.of(place));
    if (!value) return propagate(value);
    values_[place] = *std::move(value);
  }
  return {};
}

}  // namespace trainward::trainer

#include "trainer/device/fixed_parameters.hpp"

#include <utility>

#include "trainer/device/shares.hpp"
#include "trainer/pjrt/elements.hpp"

namespace trainward::trainer {

Status FixedParameters::upload(Device& device, const Places& which) {
  for (const std::size_t place : which) {
    const ParameterInfo& info = state_->table.infos[place];
    if (info.trained() || !values_[place].empty()) continue;
    const auto* bytes = static_cast<const std::byte*>(state_->fixed.of(place));
    auto value =
        begin_upload(device, info, columns_, {bytes, info.size() * pjrt::byte_size(info.element)});
    if (!value) return propagate(value);
    values_[place] = *std::move(value);
  }
  return {};
}

}  // namespace trainward::trainer

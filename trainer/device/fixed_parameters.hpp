// Parameters that are not trained, on every device: frozen weights and tables, as the host keeps
// them (FixedValues), uploaded once and never changed. They have neither gradients nor moments.
//
// Borrows the state. The devices' thread only.
#pragma once

#include <vector>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/model/training/state_views.hpp"

namespace trainward::trainer {

class FixedParameters {
 public:
  // Of each column of the devices a share.
  FixedParameters(const ModelState& state, std::int64_t columns)
      : state_(&state), columns_(columns), values_(state.table.infos.size()) {}

  // Those of `which` that are not trained and not there yet. The devices read the host's memory
  // until Device::finish_uploads().
  Status upload(Device& device, const Places& which);

  // Of a place in the table that was uploaded.
  [[nodiscard]] const Shards& operator[](std::size_t place) const { return values_[place]; }

 private:
  const ModelState* state_;
  std::int64_t columns_;
  std::vector<Shards> values_;
};

}  // namespace trainward::trainer

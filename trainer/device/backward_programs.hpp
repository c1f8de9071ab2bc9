// A backward segment on the devices, as the first of a step and as one that adds to what is there.
#pragma once

#include <optional>
#include <vector>

#include "trainer/device/device.hpp"
#include "trainer/device/modules.hpp"

namespace trainward::trainer {

struct BackwardDevicePrograms {
  DeviceProgram first;
  std::optional<DeviceProgram> more;  // none: there are no sums, or there is one batch
  std::size_t first_sum, shared;      // BackwardModules
};
Result<BackwardDevicePrograms> make_programs(Device& device, const BackwardModules& modules);

// Runs it for the first batch of a step or for another; its sums go to `sums`. The results before
// them are given back.
Result<std::vector<Shards>> run_backward(const BackwardDevicePrograms& programs, bool first,
                                         std::vector<const Shards*> arguments,
                                         const std::vector<Shards*>& sums);

}  // namespace trainward::trainer

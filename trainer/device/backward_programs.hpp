// A backward segment on the devices, as the first of a step and as one that adds to what is there.
#pragma once

#include <optional>
#include <vector>

#include "trainer/device/device.hpp"
#include "trainer/device/modules.hpp"

namespace trainward::trainer {

struct BackwardDevicePrograms {
  DeviceProgram first;
  std::optional<DeviceProgram> more;
};
Result<BackwardDevicePrograms> make_programs(Device& device, const BackwardModules& modules);

// Runs it; results from `first_sum` on go to `sums`, which, with `add`, are added to. The results
// before that are given back.
Result<std::vector<Shards>> run_backward(const BackwardDevicePrograms& programs,
                                         std::vector<const Shards*> arguments,
                                         const std::vector<Shards*>& sums, std::size_t first_sum,
                                         bool add);

}  // namespace trainward::trainer

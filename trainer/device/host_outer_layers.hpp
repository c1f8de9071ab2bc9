// Embedding and head with the CPU executor (Placement::host), on a thread of its own: gradients of
// the head's parameters are computed, and its update is made, while the devices work on the blocks.
#pragma once

#include "trainer/device/outer_layers.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/state_views.hpp"

namespace trainward::trainer {

// Borrows device, table and flat. `part`: the work of one device.
Result<std::unique_ptr<OuterLayers>> make_host_outer_layers(Device& device,
                                                            const TrainingSpec& part,
                                                            const ParameterTable& table,
                                                            const FlatMemory& flat);

}  // namespace trainward::trainer

// Embedding and head on the devices (Placement::device).
#pragma once

#include "trainer/device/modules.hpp"
#include "trainer/device/outer_layers.hpp"
#include "trainer/model/state_views.hpp"

namespace trainward::trainer {

// Borrows device, table and flat.
Result<std::unique_ptr<OuterLayers>> make_device_outer_layers(Device& device,
                                                              const OuterModules& modules,
                                                              const TrainingSpec& part,
                                                              const ParameterTable& table,
                                                              const FlatMemory& flat);

}  // namespace trainward::trainer

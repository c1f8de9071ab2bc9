// The programs a configured run would give to its device, without a device.
#pragma once

#include <filesystem>

#include "trainer/device/modules.hpp"
#include "trainer/loop/setup/worker_config.hpp"
#include "trainer/worker/commands/command_ports.hpp"

namespace trainward::trainer {

// Opens the model it begins from and reads the data, which decide the sizes; what of the data is no
// document is written to `scratch`.
// `platform`: the plugin's name for it, "" if unknown.
Result<DeviceModules> device_programs(WorkerConfig& config, stablehlo::Target target,
                                      std::string_view platform,
                                      const std::filesystem::path& scratch,
                                      const CommandPorts& ports);

}  // namespace trainward::trainer

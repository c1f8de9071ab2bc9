// From the configuration to a model on the CPU or on a PJRT plugin's devices.
#pragma once

#include <filesystem>
#include <memory>

#include "common/base/error.hpp"
#include "trainer/device/device_model.hpp"
#include "trainer/loop/reporting/reporter.hpp"
#include "trainer/loop/setup/environment.hpp"
#include "trainer/loop/setup/worker_config.hpp"

namespace trainward::trainer {

// The library that `plugin` means: a path as it is; the simulated N300 lies beside this program or
// in ../lib/trainward. Kind usage when that is not there.
Result<std::filesystem::path> find_plugin(const std::string& plugin);

// `reporter` must outlive what is made with this: it is told of every program.
Result<DeviceConfig> device_config(const WorkerConfig& config, const WorkerEnvironment& environment,
                                   Reporter& reporter);

// The model of a process that trains alone.
Result<std::unique_ptr<Trainable>> make_model(const WorkerConfig& config,
                                              const WorkerEnvironment& environment,
                                              const BaseWeights* base, Reporter& reporter);

}  // namespace trainward::trainer

// A trainable model whose blocks run on the devices of a PJRT plugin; embedding and head with
// them or with the CPU executor (DeviceUse::placement).
//
// Several devices share each step's sequences, in one process: rows of them, each with a copy of
// all parameters, which the devices of a row may share (TrainingSpec::columns). Parameters and
// moments live on the devices; the host's arrays follow when gather_state() is called. The state,
// the data and the number of steps decide the loss curve as on the CPU, to rounding. After an error
// of the device, and after a loss that is no number where all of the model is on the devices, only
// the destructor may follow: what they hold may be of no use.
#pragma once

#include <memory>
#include <optional>

#include "common/base/error.hpp"
#include "trainer/device/device.hpp"
#include "trainer/device/modules.hpp"
#include "trainer/model/model_spec.hpp"
#include "trainer/model/training/base_weights.hpp"
#include "trainer/model/training/trainable.hpp"

namespace trainward::trainer {

struct DeviceConfig {
  DeviceOptions device;
  std::int64_t devices = 1;  // rows, whose number divides the batches of a step, times columns
  Placement placement = Placement::host;
  std::optional<AttentionUse> attention;  // none: as the platform asks for (platforms.hpp)
  bool evaluates = true;  // evaluate() is used; else it is an error, and nothing is compiled for it
};

// `base`: the weights it begins with (nullptr: none), which outlive it. Errors: usage for sizes
// that cannot be and for a file that is not a plugin; else the device's.
Result<std::unique_ptr<Trainable>> make_device_model(const TrainingSpec& spec,
                                                     const DeviceConfig& config,
                                                     const BaseWeights* base = nullptr);

}  // namespace trainward::trainer

// What the settings of one section say together: the one place for rules over several keys. The
// supervisor asks it of YAML, the worker of the JSON made of that.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/settings/worker_settings.hpp"

namespace trainward::settings {

// In keys that are each in their range.
struct Problem {
  std::string key;   // in its section: "lora", "llama.heads"
  std::string what;  // "adapts a model that is there already"
  std::string cure;  // may be empty
};

// Whether the configuration names a key of the section.
using Given = std::function<bool(std::string_view key)>;

// Sets what follows from other settings and is not given itself; all problems, in order.
std::vector<Problem> settle_training(WorkerSettings& values, const Given& given);
std::vector<Problem> settle_device(WorkerSettings& values, const Given& given);

}  // namespace trainward::settings

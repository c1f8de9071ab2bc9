// The named models (common/settings/model_presets.hpp) as the model has them.
#pragma once

#include <string_view>

#include "common/base/error.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Kind usage, with the nearest name, when there is no such preset.
Result<ModelSpec> preset(std::string_view name);

}  // namespace trainward::trainer

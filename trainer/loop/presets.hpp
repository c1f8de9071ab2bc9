// The named sizes of AGILLM-3.
//
// femto_1x pico_3x nano_1x nano_3x micro_3x small smallx2 base base18 large, and the family
// femto/pico/nano/micro _kx, where k is the "expansion": rank = k × head width. All with the
// byte-level vocabulary: 256 bytes and end of text (id 256).
#pragma once

#include <string_view>

#include "common/error.hpp"
#include "trainer/model/model_spec.hpp"

namespace trainward::trainer {

// Kind usage, with the nearest name, when there is no such preset.
Result<ModelSpec> preset(std::string_view name);

}  // namespace trainward::trainer

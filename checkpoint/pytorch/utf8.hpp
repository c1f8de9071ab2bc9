// Whether bytes are UTF-8 as JSON and safetensors want it: no surrogates, no overlong forms.
#pragma once

#include <string_view>

namespace trainward::checkpoint::pytorch {

bool is_utf8(std::string_view bytes);

}  // namespace trainward::checkpoint::pytorch

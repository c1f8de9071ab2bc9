// The version of the package, from the project() line of the top CMakeLists.txt.
#pragma once

#include <string_view>

namespace trainward {

extern const std::string_view version_text;  // "0.1.0"

}  // namespace trainward

// The text of builtin/*.yaml as it was when the library was built, as one rules file.
#pragma once

#include <string_view>

namespace trainward::rules {

std::string_view builtin_rules_yaml();

}  // namespace trainward::rules

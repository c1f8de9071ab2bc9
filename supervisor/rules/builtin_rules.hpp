// The text of crash_rules.yaml as it was when the library was built.
#pragma once

#include <string_view>

namespace trainward::rules {

std::string_view builtin_rules_yaml();

}  // namespace trainward::rules

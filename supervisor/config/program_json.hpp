// JSON as one certain string, so that equal configurations have equal digests.
#pragma once

#include <string>

#include "common/base/json.hpp"

namespace trainward::config {

// Keys in byte order, no spaces, numbers in their shortest form.
std::string canonical_json(const json::value& value);

}  // namespace trainward::config

// The two clocks, read in one place. Monotonic is CLOCK_BOOTTIME: it continues during suspend and
// across restarts of our processes, not of the machine.
#pragma once

#include <string>
#include <string_view>

#include "common/base/time.hpp"

namespace trainward {

Time now();

// /proc/sys/kernel/random/boot_id; empty when it could never be read.
std::string boot_id();

// Whether the machine was started again since it had this id; no where one of the two is unknown.
bool started_since(std::string_view boot);

}  // namespace trainward

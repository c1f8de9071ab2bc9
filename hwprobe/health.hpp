// What a report comes to: the exit status of trainward-probe. Pure.
#pragma once

#include "hwprobe/report/report.hpp"

namespace trainward::hwprobe {

enum class Health { healthy = 0, degraded = 1, unusable = 2, unclear = 3 };

Health health(const Report& report);

}  // namespace trainward::hwprobe

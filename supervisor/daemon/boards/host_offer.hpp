// What this host offers of all that Trainward uses, for `trainwardd --check`.
#pragma once

#include <vector>

#include "supervisor/evidence/host/kernel_features.hpp"

namespace trainward::daemon {

// The kernel's features, then what depends on how the host is set up: cgroups, memory pressure, the
// kernel's log, io_uring. Changes nothing.
std::vector<host::Feature> host_offer();

}  // namespace trainward::daemon

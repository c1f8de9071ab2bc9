// A control group of one's own inside the group one is in: the stand-in for a scope where systemd
// makes none. It works in a service with `Delegate=yes`, also without root.
//
// Why not stay in the service's own group: whoever divides that one to limit memory must switch
// controllers on there, and then systemd can start no new daemon in it while workers live.
#pragma once

#include <string>

#include "common/base/error.hpp"

namespace trainward::unit {

// Moves the calling process into the group `name` below its own (of cgroup v2), and removes such
// groups of earlier attempts that are empty. No controller is switched on below, so the parent may
// hold processes too. Kind permanent: no cgroup v2, or not ours to divide.
Status enter_own_group(const std::string& name);

}  // namespace trainward::unit

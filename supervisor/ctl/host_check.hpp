// Whether the meshes of programs fit the hosts that files describe for them.
//
// In: a configuration that was read. Out: a problem for each program whose described host cannot be
// read, or has no such mesh even with every chip and link at work. What is broken there now is not
// the configuration's fault. Reads the files of the hosts.
#pragma once

#include "supervisor/config/config.hpp"

namespace trainward::ctl {

config::Problems check_hosts(const config::Config& config);

}  // namespace trainward::ctl

// What the configuration of a program means to the core.
#pragma once

#include "supervisor/config/config.hpp"
#include "supervisor/core/policy.hpp"

namespace trainward::daemon {

core::Policy policy_of(const config::Program& program);

}  // namespace trainward::daemon

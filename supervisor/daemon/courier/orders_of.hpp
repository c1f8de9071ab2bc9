// What the courier is to do, by the configuration.
#pragma once

#include "supervisor/config/config.hpp"
#include "supervisor/daemon/base/paths.hpp"
#include "supervisor/orders/orders.hpp"

namespace trainward::daemon {

orders::Orders orders_of(const config::Config& config, const Paths& paths);

}  // namespace trainward::daemon

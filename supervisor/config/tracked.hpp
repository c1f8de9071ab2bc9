// What trackers are told of the programs of a configuration.
#pragma once

#include <vector>

#include "common/base/json/json.hpp"
#include "supervisor/config/config.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::config {

// Texts, numbers and flags by dotted names: the worker's settings, or the options of a command
// line. Nothing that looks secret is in it.
json::object hparams_of(const Program& program);

// Of the programs that are tracked anywhere.
std::vector<orders::TrackingOrder> tracking_orders(const Config& config);

}  // namespace trainward::config

// Jobs that keep a program's trackers up to date.
#pragma once

#include <memory>
#include <vector>

#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/trackers.hpp"

namespace trainward::courier {

// One for each tracker of the order: "tracking NAME/tensorboard", "tracking NAME/mlflow".
std::vector<std::unique_ptr<Job>> make_tracking_jobs(const orders::TrackingOrder& order,
                                                     const net::Settings& network);

}  // namespace trainward::courier

#include "supervisor/daemon/courier/orders_of.hpp"

#include "supervisor/config/tracked.hpp"

namespace trainward::daemon {

orders::Orders orders_of(const config::Config& config, const Paths& paths) {
  orders::Orders orders;
  orders.state_dir = config.state_dir.string();
  orders.database = config.database.string();
  orders.channels = config.channels;
  orders.tracking = config::tracking_orders(config);
  for (const config::Program& program : config.programs) {
    if (program.upload.targets.empty()) continue;
    orders.uploads.push_back(config::upload_order_of(program, paths.checkpoints(program.name)));
  }
  return orders;
}

}  // namespace trainward::daemon

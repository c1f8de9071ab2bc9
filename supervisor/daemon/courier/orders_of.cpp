#include "supervisor/daemon/courier/orders_of.hpp"

namespace trainward::daemon {

orders::Orders orders_of(const config::Config& config) {
  orders::Orders orders;
  orders.state_dir = config.state_dir.string();
  orders.database = config.database.string();
  orders.channels = config.channels;
  return orders;
}

}  // namespace trainward::daemon

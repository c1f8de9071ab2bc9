#include "supervisor/courier/jobs.hpp"

#include <utility>

#include "supervisor/courier/courier_table.hpp"
#include "supervisor/courier/tracking/tracked_table.hpp"
#include "supervisor/courier/tracking/tracking_jobs.hpp"
#include "supervisor/net/http_client.hpp"

namespace trainward::courier {

std::vector<std::string> all_tables() {
  std::vector<std::string> tables;
  for (const auto& part : {courier_tables(), tracking_tables()}) {
    tables.insert(tables.end(), part.begin(), part.end());
  }
  return tables;
}

Result<std::vector<std::unique_ptr<Job>>> jobs_of(const orders::Orders& orders) {
  std::vector<std::unique_ptr<Job>> jobs;
  const net::Settings network{.proxy = orders.proxy, .certificates = orders.certificates};
  for (const orders::TrackingOrder& order : orders.tracking) {
    for (auto& job : make_tracking_jobs(order, network)) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace trainward::courier

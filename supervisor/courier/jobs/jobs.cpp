#include "supervisor/courier/jobs/jobs.hpp"

#include <random>
#include <utility>

#include "common/os/clock.hpp"
#include "supervisor/courier/base/courier_table.hpp"
#include "supervisor/courier/jobs/channels/channel_job.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/courier/jobs/tracking/tracked_table.hpp"
#include "supervisor/courier/jobs/tracking/tracking_jobs.hpp"
#include "supervisor/courier/jobs/uploads/upload_job.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/record/uploads/uploads.hpp"

namespace trainward::courier {

std::vector<std::string> all_tables() {
  std::vector<std::string> tables;
  for (const auto& part :
       {courier_tables(), channel_tables(), tracking_tables(), upload::upload_tables()}) {
    tables.insert(tables.end(), part.begin(), part.end());
  }
  return tables;
}

Result<std::vector<std::unique_ptr<Job>>> jobs_of(const orders::Orders& orders) {
  std::vector<std::unique_ptr<Job>> jobs;
  const net::Settings network{.proxy = orders.proxy, .certificates = orders.certificates};
  std::random_device chance;
  for (const orders::Channel& channel : orders.channels) {
    jobs.push_back(make_channel_job(channel, {speaker_of(orders.database), network, chance()}));
  }
  for (const orders::UploadOrder& order : orders.uploads) {
    for (const orders::Target& target : order.upload.targets) {
      jobs.push_back(make_upload_job(order, target, network, orders.state_dir));
    }
  }
  for (const orders::TrackingOrder& order : orders.tracking) {
    for (auto& job : make_tracking_jobs(order, network)) jobs.push_back(std::move(job));
  }
  return jobs;
}

Status forget_what_is_gone(Journal& journal, const orders::Orders& orders) {
  return forget_other_channels(journal, orders.channels, now().wall.ms);
}

}  // namespace trainward::courier

#include "supervisor/courier/jobs/channels/channel_job.hpp"

#include <unistd.h>

#include <array>

#include "common/base/digest.hpp"

namespace trainward::courier {
Speaker speaker_of(const std::string& database) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string host(name.data());
  return {host, sha256_hex(host + '\0' + database).substr(0, 12)};
}

Status forget_other_channels(Journal& journal, const std::vector<orders::Channel>& channels,
                             std::int64_t now_ms) {
  std::vector<std::string> all;
  std::vector<std::string> told;  // messages
  for (const orders::Channel& channel : channels) {
    all.push_back(channel.name);
    if (channel.kind != orders::ChannelKind::ping) told.push_back(channel.name);
  }
  return journal.transact(
      [&](store::Connection& db) { return Queue::forget_others(db, all, told, now_ms); });
}

std::unique_ptr<Job> make_channel_job(const orders::Channel& channel,
                                      const ChannelContext& context) {
  switch (channel.kind) {
    case orders::ChannelKind::alertmanager:
      return make_alert_job(channel, context);
    case orders::ChannelKind::ping:
      return make_ping_job(channel, context);
    default:
      return make_message_job(channel, context);
  }
}

}  // namespace trainward::courier

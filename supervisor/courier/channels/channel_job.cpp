#include "supervisor/courier/channels/channel_job.hpp"

#include <unistd.h>

#include <array>

#include "common/base/digest.hpp"

namespace trainward::courier {
namespace {

constexpr std::int64_t kept_ms = 30 * 24 * 3'600'000LL;

}  // namespace

Speaker speaker_of(const std::string& database) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  const std::string host(name.data());
  return {host, sha256_hex(host + '\0' + database).substr(0, 12)};
}

Status recover_queue(const World& world, const ChannelContext& context, const Queue& queue,
                     bool in_doubt) {
  return world.journal.transact([&](store::Connection& db) -> Status {
    if (!context.channels.empty()) {
      auto forgotten = Queue::forget_others(db, context.channels, world.now_ms);
      if (!forgotten) return forgotten;
    }
    if (auto pruned = queue.prune(db, world.now_ms - kept_ms); !pruned) return pruned;
    return queue.recover(db, in_doubt, world.now_ms);
  });
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

// The jobs of channels: who is told messages in their order, who is kept up to date, and who hears
// a ping while all is well.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/courier/channels/forms/message.hpp"
#include "supervisor/courier/channels/queue.hpp"
#include "supervisor/courier/job.hpp"
#include "supervisor/net/http_client.hpp"
#include "supervisor/orders/channels.hpp"

namespace trainward::courier {

struct ChannelContext {
  Speaker speaker;
  net::Settings network;
  std::uint64_t seed = 0;                  // of the jitter
  std::vector<std::string> channels = {};  // all that there are, by name; empty: not known
};

// Of this host, and the run whose database this is.
Speaker speaker_of(const std::string& database);

std::unique_ptr<Job> make_channel_job(const orders::Channel& channel,
                                      const ChannelContext& context);

// What a channel's job begins with, once: a job lives no longer than its process, so what is on its
// way in the queue was another's. `in_doubt`: that may have been taken, and the receiver would not
// know it again. Channels that are gone are forgotten, and what is a month old.
Status recover_queue(const World& world, const ChannelContext& context, const Queue& queue,
                     bool in_doubt);

// ---- a file each ----

// A message is marked as on its way before it leaves. After the end of this process in between it
// is told again, with the same id; where the receiver does not know repetitions it is then on
// record as perhaps told twice. It is never lost: what fails is tried again with longer and longer
// pauses for a day, unless the receiver says that this will not help.
std::unique_ptr<Job> make_message_job(const orders::Channel& channel,
                                      const ChannelContext& context);
// Alertmanager forgets what it does not hear again, so all that lasts is told each minute, and that
// it is over for five.
std::unique_ptr<Job> make_alert_job(const orders::Channel& channel, const ChannelContext& context);
std::unique_ptr<Job> make_ping_job(const orders::Channel& channel, const ChannelContext& context);

}  // namespace trainward::courier

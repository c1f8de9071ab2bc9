// The jobs of channels: who is told messages in their order, who is kept up to date, and who hears
// a ping while all is well.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/forms/form_message.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/courier/net/http_client.hpp"
#include "supervisor/orders/channels.hpp"

namespace trainward::courier {

struct ChannelContext {
  Speaker speaker;
  net::Settings network;
  std::uint64_t seed = 0;  // of the jitter
};

// Of this host, and the run whose database this is.
Speaker speaker_of(const std::string& database);

std::unique_ptr<Job> make_channel_job(const orders::Channel& channel,
                                      const ChannelContext& context);

// Before there are jobs: gives up what was still to be told to channels that are not among these,
// and lets a later channel of the same name start fresh.
Status forget_other_channels(Journal& journal, const std::vector<orders::Channel>& channels,
                             std::int64_t now_ms);

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

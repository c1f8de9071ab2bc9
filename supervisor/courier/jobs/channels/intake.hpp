// New messages of the outbox put into a channel's queue: those it takes, and what they replace.
#pragma once

#include "common/base/error.hpp"
#include "supervisor/courier/base/job.hpp"
#include "supervisor/courier/jobs/channels/message_queue.hpp"
#include "supervisor/orders/channels.hpp"

namespace trainward::courier {

// A channel that is new begins with what is decided from now on. Taken are messages of its tiers,
// and the one that says that a trouble is over, if this channel was told of the trouble. A message
// takes the place of older ones of its episode that wait. Puts the cursor into `state`.
Status take_in(const World& world, const orders::Channel& channel, const Queue& queue,
               ChannelState& state);

// Of the message, what the outbox has now; nothing: it was pruned.
Result<std::optional<store::MessageRow>> message_row(const store::Store& store, std::int64_t id);

}  // namespace trainward::courier
